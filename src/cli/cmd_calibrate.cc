#include "cli/arguments.h"
#include "flows/find_model.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "calibrate", "Fit a new machine from a handful of measurements, and show how good the fit is",
    R"(WHAT IT DOES
  Draws --rows measurements of ML primitives from DATA, fits the law to them alone, and tests it on all
  other nodes of DATA, including modules and whole models. Also shows the error that the rows alone suggest,
  each predicted from the others. --draws repeats this with other rows. --rows must be at least the number
  of terms of the law. --profile-out writes the law as a profile for beryl predict.

EXAMPLES
  beryl calibrate irene/device_1 --rows 8
  beryl calibrate my_eight_rows.csv --rows 8 --profile-out new_machine.json
  beryl calibrate run.beryl --model config.json --rows 8)"};

struct CalibrateArguments {
  flows::TrainingData data;
  flows::CalibrationPlan plan;
  std::string profile;
  OutputArguments output;
};

Result<int> RunCalibrate(const CalibrateArguments& arguments) {
  const std::string& profile = arguments.profile;
  if (profile == "-") {
    return MisuseError("--profile-out must name a file: the result goes to standard output");
  }
  return WriteResult(arguments.output, [&](auto&) -> Result<Calibration> {
    std::optional<OutputFile> file;
    if (!profile.empty()) file = TRY(OutputFile::Open(profile));
    auto calibration = TRY(flows::CalibrateMachine(arguments.data, arguments.plan));
    if (file) TRY(file->Commit(flows::WriteProfile(calibration.model)));
    return calibration;
  });
}

}  // namespace

void AddCalibrate(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunCalibrate);
  AddDataArgument(command, arguments.data.path);
  AddRunModelsOption(command, arguments.data.models);
  command.Option("--rows N", arguments.plan.rows, "Measurements to fit to",
                 Between(1, 1'000'000'000));
  AddSeedOption(command, arguments.plan.seed, "Seed that decides which rows are drawn");
  command.Option("--draws N", arguments.plan.draws, "Number of repetitions", Between(1, 100'000));
  command.OutputOption("--profile-out FILE", arguments.profile,
                       "Write the law to this file as a profile");
  AddOutputOptions(command, arguments.output, views::kFormats<Calibration>);
}

}  // namespace beryl::cli
