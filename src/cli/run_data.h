// Runs of one's own as a data set to learn from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/dataset.h"

namespace beryl::cli {

// Whether `path` is a run file.
bool IsRunFile(const std::string& path);
// Whether `path` is a run file, or a folder with run files in it.
bool IsRunData(const std::string& path);

// Which model a run is of: by the name of its file, or of all of them with "".
using ModelsOfRuns = std::map<std::string, std::string>;
// "[RUN=]NAME|CONFIG", several; fails as misuse where a run is named twice.
Result<ModelsOfRuns> ParseModelsOfRuns(const std::vector<std::string>& given);

// Reads and accounts them. What a wall or board meter reads beyond the devices is shared among all
// operations. A run whose model is known becomes one forward pass of it, with the names, FLOPs and
// bytes of its description; each other is a model of its own, called after its file.
Result<Dataset> ReadRunData(const std::string& path, const ModelsOfRuns& models = {});

}  // namespace beryl::cli
