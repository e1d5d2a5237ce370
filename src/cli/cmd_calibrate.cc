#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/learning_arguments.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Fit a new machine from a handful of measurements, and say how good that will be";

constexpr const char* kFooter =
    R"(WHAT IT DOES
  Draws --rows measurements of ML primitives from DATA, fits the law to them alone, and tests it on all
  other nodes of DATA, modules and whole models too. Says what the rows alone would have promised: each of
  them predicted from the others. --draws repeats it with other rows. Fewer rows than the law has terms
  are refused. With --profile-out the law is written as a profile for beryl predict.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl calibrate irene/device_1 --rows 8
  beryl calibrate my_eight_rows.csv --rows 8 --profile-out new_machine.json
  beryl calibrate run.beryl --model config.json --rows 8)";

struct CalibrateArguments {
  std::string data;
  std::vector<std::string> models;
  uint64_t rows = 8;
  uint64_t seed = 0;
  uint64_t draws = 50;
  std::string profile;
  OutputArguments output;
};

int RunCalibrate(const CalibrateArguments& arguments) {
  const std::string& profile = arguments.profile;
  if (auto ok = CheckOutput(arguments.output.output, {arguments.data, profile}); !ok) {
    return Fail(ok.error());
  }
  if (!profile.empty() && (profile == "-" || profile == arguments.data)) {
    return Fail(MisuseError(
        "--profile-out is a file of its own: the result is on stdout, and DATA stays as it is"));
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  std::optional<OutputFile> profile_file;
  if (!profile.empty()) {
    auto opened = OutputFile::Open(profile);
    if (!opened) return Fail(opened.error());
    profile_file = std::move(*opened);
  }
  const auto data = ReadData(arguments.data, true, arguments.models);
  if (!data) return Fail(data.error());
  auto calibration = learn::Calibrate(*data, arguments.rows, arguments.seed, arguments.draws);
  if (!calibration) return Fail(calibration.error());
  calibration->provenance = MakeProvenance({arguments.data});
  if (profile_file) {
    calibration->model.provenance = calibration->provenance;
    if (auto ok = profile_file->Commit(learn::WriteEnergyModel(calibration->model)); !ok) {
      return Fail(ok.error());
    }
  }
  return FinishCommand(
      *output,
      views::Write(*calibration, FormatOf(arguments.output.format), ViewOf(arguments.output)),
      arguments.output, calibration->notes);
}

}  // namespace

void AddCalibrateCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<CalibrateArguments>();
  Command* command = app.add_subcommand("calibrate", kDescription);
  command->footer(kFooter);
  AddDataArgument(*command, arguments->data);
  AddRunModelsOption(*command, arguments->models);
  command->add_option("--rows", arguments->rows, "How many measurements to fit to; default 8")
      ->check(Range(1, 1'000'000'000))
      ->type_name("N");
  command->add_option("--seed", arguments->seed, "Which rows are drawn; default 0")
      ->check(FiniteFrom0())
      ->type_name("N");
  command->add_option("--draws", arguments->draws, "How often to repeat it; default 50")
      ->check(Range(1, 100000))
      ->type_name("N");
  command->add_option("--profile-out", arguments->profile, "Write the law there as a profile")
      ->type_name("FILE");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunCalibrate(*arguments); });
}

}  // namespace beryl::cli
