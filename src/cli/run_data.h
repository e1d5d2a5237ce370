// Runs of one's own as a data set to learn from.
#pragma once

#include <string>

#include "base/result.h"
#include "types/dataset.h"

namespace beryl::cli {

// Whether `path` is a run file, or a folder with run files in it.
bool IsRunData(const std::string& path);

// Reads and accounts them. Each is a model of its own, called after its file. What a wall or board
// meter reads beyond the devices is shared among all operations.
Result<Dataset> ReadRunData(const std::string& path);

}  // namespace beryl::cli
