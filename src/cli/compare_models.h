// Setting runs, predictions and descriptions side by side: the half of `beryl compare` that is
// given a model.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "cli/model_arguments.h"
#include "cli/run_arguments.h"
#include "views/views.h"

namespace beryl::cli {

struct CompareModelArguments {
  const RunArguments& run;          // `runs` are the operands
  const ModelArguments& described;  // what goes into the models
  const std::string& labels;
  const std::vector<std::string>& columns;  // that are compared, by name; empty: what suits
  const OutputArguments& output;
};

// Whether an operand is a model, NAME|CONFIG[@PROFILE], and not a run file.
bool IsModelOperand(const std::string& operand);
// Returns the exit code.
int CompareModels(const CompareModelArguments& arguments, OutputFile& output,
                  const views::ViewOptions& view);

}  // namespace beryl::cli
