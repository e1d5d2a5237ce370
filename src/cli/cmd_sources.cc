#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/meter_arguments.h"
#include "sources/sources.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Which meters this machine has, which it refuses and why, and whether they can be believed";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
  found       what can be read: how often it is updated, what contains it, the power just now, and
              the least energy it can tell
  refused     what cannot, with the command that would change that
  checks      does the counter move, does psys hold its packages, does a GPU's counter agree with
              its power
A counter that stands still is listed and not used. Where no meter is left for the CPUs, an estimate
from CPU time stands in, and says so.

ENVIRONMENT
  BERYL_SYSFS, BERYL_PROCFS    folders to read instead of /sys and /proc
  BERYL_NVML                   library to load instead of libnvidia-ml.so.1

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl sources
  beryl sources --format json
  beryl sources --meter '/dev/ttyUSB0,baud=9600,format={V} {A}'
  beryl sources --patience 2s)";

struct SourcesArguments {
  MeterArguments meters;
  OutputArguments output;
  std::string patience = "300ms";
};

int RunSources(const SourcesArguments& arguments) {
  const auto options = DiscoverOptionsOf(arguments.meters);
  if (!options) return Fail(options.error());
  const auto patience = ParseDuration("--patience", arguments.patience);
  if (!patience) return Fail(patience.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  const sources::Machine machine = sources::Machine::FromEnvironment();
  auto discovery = sources::Discover(machine, *options);
  if (!discovery) return Fail(discovery.error());
  const SourceReport report = sources::Probe(machine, *options, *discovery, *patience);
  if (auto ok = output->Commit(
          views::Write(report, FormatOf(arguments.output.format), ViewOf(arguments.output)));
      !ok) {
    return Fail(ok.error());
  }
  return kSuccess;
}

}  // namespace

void AddSourcesCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<SourcesArguments>();
  Command* command = app.add_subcommand("sources", kDescription);
  command->footer(kFooter);
  AddMeterOptions(*command, arguments->meters);
  command->add_option("--patience", arguments->patience, "How long to watch the meters at most")
      ->type_name("TIME")
      ->capture_default_str();
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunSources(*arguments); });
}

}  // namespace beryl::cli
