// Compares runs, predictions and descriptions on one tree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "flows/give_model.h"
#include "flows/read_run.h"
#include "models/models.h"
#include "types/side_by_side.h"

namespace beryl::flows {

// One side: a run, or a model with its profile.
struct Operand {
  std::string label = {};
  std::string run = {};      // as for FilesOfRun (flows/read_run.h); empty: a model
  std::string model = {};    // as for ReadConfig
  std::string profile = {};  // as for ReadProfile; empty: the model is only described
  std::function<Result<RunInput>()> read = {};  // the run, if `run` is only what it is called
};
// A run, or NAME|CONFIG[@PROFILE]. The label is left empty.
Operand ReadOperand(const std::string& text);

struct SideBySideOptions {
  RunOptions run;
  // The input of the models, if no run shows it.
  models::DescribeOptions describe;
  ModelThatRan::Given given;
  std::vector<std::string> columns;  // columns to compare, by name; empty: chosen automatically
  bool only_names = false;           // of models and profiles: no file is read
};

// Runs get the names of the first model and count as one forward pass of it; fails if a run has
// none of its modules. If there are only runs, they stay whole.
Result<SideBySide> CompareWithModels(const std::vector<Operand>& operands,
                                     const SideBySideOptions& options);

}  // namespace beryl::flows
