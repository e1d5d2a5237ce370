#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription = "Hand a run's energy over to tools that show profiles";

constexpr const char* kFooter = R"(FORMATS
  folded      stacks and whole microjoules, a line each, for flamegraph.pl, inferno and others
  speedscope  for https://www.speedscope.app: a profile for all devices and one for each, in joules
  chrome      for chrome://tracing and https://ui.perfetto.dev: the tree drawn so that a second is a joule,
              and beside it the power of each channel over real time
  pprof       for go tool pprof and others: energy in microjoules, and time at work
  Whole numbers are rounded together: they add up to the energy of all operations.

EXAMPLES
  beryl export --to folded --ops trace.json.gz --power power.csv | flamegraph.pl --countname uJ > energy.svg
  beryl export run.beryl --to speedscope -o run.speedscope.json
  beryl export run.beryl --to chrome -o run.trace.json
  beryl export run.beryl --to pprof -o run.pb.gz && go tool pprof -top run.pb.gz)";

struct ExportArguments {
  RunArguments run;
  OutputArguments output;
  std::string to;
};

views::ProfileFormat ProfileFormatOf(const std::string& name) {
  if (name == "speedscope") return views::ProfileFormat::kSpeedscope;
  if (name == "chrome") return views::ProfileFormat::kChrome;
  if (name == "pprof") return views::ProfileFormat::kPprof;
  return views::ProfileFormat::kFolded;
}

int RunExport(ExportArguments& arguments) {
  if (arguments.to == "pprof" && arguments.output.to_stdout() && ::isatty(STDOUT_FILENO) == 1) {
    return Fail(MisuseError("pprof's format is not for a terminal: name a file with -o"));
  }
  // What is written says nothing of clocks and notes, so they are said beside it.
  arguments.output.format = arguments.to;
  return RunAnalysis(
      arguments.run, arguments.output,
      [&](const AccountedRun& run, const AccountReport& report, const views::ViewOptions&) {
        return Result<std::string>(views::Write(report, tree::SelfSeconds(run.footprint, run.built),
                                                ProfileFormatOf(arguments.to)));
      },
      arguments.to == "chrome");
}

}  // namespace

void AddExportCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<ExportArguments>();
  Command* command = app.add_subcommand("export", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  AddAccountOptions(*command, arguments->run);
  command->add_option("--to", arguments->to, "Format to write")
      ->required()
      ->check(IsMember({"folded", "speedscope", "chrome", "pprof"}));
  command
      ->add_option("-o,--output", arguments->output.output,
                   "Where to write it; - is standard output")
      ->type_name("FILE");
  command->callback([arguments, &exit_code] { exit_code = RunExport(*arguments); });
}

}  // namespace beryl::cli
