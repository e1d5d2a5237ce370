// Predicting a model that was never run: the half of `beryl predict` that starts from a
// description.
#pragma once

#include <string>

#include "base/file.h"
#include "cli/electricity_arguments.h"
#include "cli/model_arguments.h"
#include "cli/run_arguments.h"
#include "views/views.h"

namespace beryl::cli {

inline constexpr const char* kDefaultProfile = "gtx1080ti-i9-7900x";

struct PredictModelArguments {
  const ModelArguments& model;
  const std::string& profile;  // empty: kDefaultProfile
  const ElectricityArguments& electricity;
  const OutputArguments& output;
};
// Describes, predicts, writes. Returns the exit code.
int PredictModel(const PredictModelArguments& arguments, OutputFile& output,
                 const views::ViewOptions& view);

}  // namespace beryl::cli
