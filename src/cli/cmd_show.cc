#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/recording_report.h"
#include "cli/terminal.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say what a recording comes to: energy by device and process, power over time, whose it was";

constexpr const char* kFooter = R"(WHAT COMES OUT
  energy      of every device: a package with its memory beside it, a GPU; of the whole machine only if
              nothing finer was measured. What contains a device or is contained in it is shown, never
              added. For every device: ours + others + recorder + idle = energy
  ours        the watched processes, by their CPU time on the CPUs of the package (docs/measurement.md)
  gaps        time for which a meter told nothing. It is said, and no energy is made up for it
  features    mean use of CPUs, memory and GPUs, by the names of the prediction's features
  -           not known. It is never written as 0

HOW IT IS TOLD APART
  --split busy      among those that ran, in proportion to their time; idle only while nothing runs
  --split capacity  a CPU that idles keeps its part of the time, and that is idle energy

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl record -o run.beryl -- python3 train.py
  beryl show run.beryl
  beryl show run.beryl --format svg -o power.svg
  beryl show run.beryl --format json | jq '.devices[] | {device, energy_j, ours_j}')";

struct ShowArguments {
  std::string file;
  std::string split = "busy";
  size_t slices = 240;
  int top = -1;
  OutputArguments output;
};

Result<bool> Show(const ShowArguments& arguments) {
  const OutputArguments& out = arguments.output;
  std::error_code ignored;
  if (!out.to_stdout() && std::filesystem::equivalent(arguments.file, out.output, ignored)) {
    return MisuseError(
        fmt::format("-o {}: this is the recording itself; name another file", out.output));
  }
  auto output = OutputFile::Open(out.output);
  if (!output) return output.error();
  account::MeasureOptions options;
  options.slices = arguments.slices;
  if (arguments.split == "capacity") options.split = account::SplitRule::kCapacity;
  const auto measured = ReadMeasurement(arguments.file, options);
  if (!measured) return measured.error();
  views::ViewOptions view;
  view.width = TerminalWidth(out.to_stdout());
  view.color = WantColor(out.color, out.to_stdout());
  if (arguments.top >= 0) view.top = arguments.top;
  if (auto ok = output->Commit(views::Write(*measured, FormatOf(out.format), view)); !ok) return ok;
  // What CSV has no place for, or what now lies in a file, is said here.
  if (out.format == "csv" || (!out.to_stdout() && out.format != "table")) {
    fmt::print(stderr, "{}", views::Write(*measured, views::Format::kSummary, view));
  }
  return true;
}

}  // namespace

void AddShowCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<ShowArguments>();
  Command* command = app.add_subcommand("show", kDescription);
  command->footer(kFooter);
  command->add_option("file", arguments->file, "What beryl record wrote, or any run file")
      ->type_name("FILE")
      ->required();
  command->add_option("--split", arguments->split, "How energy is told apart by CPU time")
      ->check(IsMember({"busy", "capacity"}))
      ->capture_default_str();
  command->add_option("--slices", arguments->slices, "Slices of the power over time")
      ->type_name("N")
      ->check(Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--top", arguments->top, "Processes to list in a table")
      ->type_name("N")
      ->check(Range(0, 1'000'000));
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] {
    const auto ok = Show(*arguments);
    exit_code = ok ? kSuccess : Fail(ok.error());
  });
}

}  // namespace beryl::cli
