// A model's description beside a run of it: `--model` of the commands that account a run.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/model_arguments.h"
#include "cli/pipeline.h"

namespace beryl::cli {

class Command;

struct RunModelArguments {
  ModelArguments described;  // without a model: none is asked for
  std::string profile;       // that predicts it; empty: none
};
// --model, --profile, --batch, --seq and what else describes a model.
void AddRunModelOptions(Command& command, RunModelArguments& arguments);

// Gives the run the names, levels and columns of the description; what it takes in is read off the
// run's shapes where the arguments do not say. Nothing is done without a model.
Result<bool> GiveModel(const RunModelArguments& arguments, AccountedRun& run);

}  // namespace beryl::cli
