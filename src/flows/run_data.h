// Makes a training data set of the user's own runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/dataset.h"

namespace beryl::flows {

// Whether `path` is a run file.
bool IsRunFile(const std::string& path);
// Whether `path` is a run file, or a folder with run files in it.
bool IsRunData(const std::string& path);

// The model of each run, by file name; "" stands for all runs.
using ModelsOfRuns = std::map<std::string, std::string>;
// "[RUN=]NAME|CONFIG", several; it is a misuse error if a run is named twice.
Result<ModelsOfRuns> ParseModelsOfRuns(const std::vector<std::string>& given);

// Reads and accounts run files. Energy of a wall or board meter beyond that of the devices is
// shared among all operations. A run with a known model becomes one forward pass of it, with the
// names, FLOPs and bytes of its description. Every other run is a model of its own, named after its
// file.
Result<Dataset> ReadRunData(const std::string& path, const ModelsOfRuns& models = {});

}  // namespace beryl::flows
