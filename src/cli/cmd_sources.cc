#include "cli/arguments.h"
#include "flows/find_meters.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "sources",
    "List the meters of this machine, which ones cannot be read and why, and whether they can be "
    "trusted",
    R"(OUTPUT
  found       meters that can be read: how often they update, what contains them, the power now, and
              the least energy they resolve
  refused     meters that cannot be read, with the command that would change that
  checks      does the counter move, does psys cover its packages, does a GPU's counter agree with
              its power
A counter that does not move is listed but not used. If no meter for the CPUs is left, an estimate from
CPU time replaces it, labelled as such.

ENVIRONMENT
  BERYL_SYSFS, BERYL_PROCFS    folders to read instead of /sys and /proc
  BERYL_NVML                   library to load instead of libnvidia-ml.so.1

EXAMPLES
  beryl sources
  beryl sources --meter '/dev/ttyUSB0,baud=9600,format={V} {A}'
  beryl sources --patience 2s)"};

struct SourcesArguments {
  flows::MeterRequest meters;
  OutputArguments output;
  std::string patience = "300ms";
};

Result<int> RunSources(const SourcesArguments& arguments) {
  const auto options = TRY(flows::DiscoverOptionsOf(arguments.meters));
  const auto patience = TRY(flows::ParseDuration("patience", arguments.patience));
  return WriteResult(arguments.output, [&](auto&) -> Result<SourceReport> {
    return TRY(flows::FindMeters(sources::Machine::FromEnvironment(), options, patience)).report;
  });
}

}  // namespace

void AddSources(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunSources);
  AddMeterOptions(command, arguments.meters);
  command.Option("--patience TIME", arguments.patience, "Watch the meters for at most this long");
  AddOutputOptions(command, arguments.output, views::kFormats<SourceReport>);
}

}  // namespace beryl::cli
