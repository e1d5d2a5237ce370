#include "cli/pipeline.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/progress.h"
#include "tree/tree.h"
#include "version.h"

namespace beryl::cli {
namespace {

constexpr size_t kTimelineSlices = 600;

std::string Machine() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}, {} CPUs", names.sysname, names.release, names.machine,
                     ::sysconf(_SC_NPROCESSORS_ONLN));
}

// `label` says if the power is not what it seems.
std::string EnergySource(const PowerTrace& power, const std::string& label) {
  std::vector<std::string> parts;
  for (const PowerChannel& channel : power.channels) {
    parts.push_back(fmt::format(
        "{} ({})", channel.name,
        channel.kind == ChannelKind::kEnergyCounter ? "energy counter" : "power gauge"));
  }
  return fmt::format("{}: {} from {}", label.empty() ? "measured" : label + ", not measured",
                     fmt::join(parts, ", "), power.report.file);
}

std::string_view PolicyText(account::Policy policy) {
  switch (policy) {
    case account::Policy::kHold:
      return "hold";
    case account::Policy::kLinear:
      return "linear";
    case account::Policy::kExact:
      return "exact";
    case account::Policy::kAuto:
      break;
  }
  return "auto";
}

}  // namespace

Result<RunInput> ReadRun(const std::vector<std::string>& ops_files, const std::string& power_file,
                         const PipelineOptions& options) {
  RunInput run;
  auto power_source = ByteSource::Open(power_file);
  if (!power_source) return power_source.error();
  auto power = sources::ReadPowerFile(*power_source, options.power);
  if (!power) return power.error();
  run.power = std::move(*power);
  for (const std::string& file : ops_files) {
    auto source = ByteSource::Open(file);
    if (!source) return source.error();
    Progress progress("reading " + file, source->file_size(), ::isatty(STDERR_FILENO) == 1);
    importers::ImportOptions import = options.import;
    import.progress = [&](uint64_t bytes) { progress.Update(bytes);
  };
  if (auto ok = importers::Import(*source, import, run.ops); !ok) return ok.error();
}
return run;
}  // namespace beryl::cli

Result<AccountReport> MakeReport(const RunInput& run, const PipelineOptions& options,
                                 RunContext context) {
  auto footprint = account::Account(run.power, run.ops, options.account);
  if (!footprint) return footprint.error();
  const tree::TraceTree built = tree::Build(run.ops);
  const tree::TraceTree folded = tree::Fold(built);

  AccountReport report;
  report.tree = {built.tree, tree::Columns(run.ops, *footprint, built)};
  report.folded = {folded.tree, tree::Columns(run.ops, *footprint, folded)};
  report.operations = tree::Operations(run.ops, *footprint);
  report.summary = tree::Summarize(run.ops, *footprint, folded);
  report.clock_offset = footprint->clock_offset;
  report.clock_reason = footprint->clock_reason;
  report.channels = std::move(footprint->channels);
  report.notes = std::move(footprint->notes);
  report.imports = run.ops.reports;
  report.steps = run.ops.steps.size();
  for (const Finding& finding : run.power.report.findings) {
    report.notes.push_back(fmt::format("{}: {} reading(s): {} (first at byte {})",
                                       run.power.report.file, finding.count, finding.reason,
                                       finding.first_offset));
  }
  if (options.timeline) {
    report.timeline = account::MakeTimeline(run.power, run.ops, options.account,
                                            report.clock_offset, kTimelineSlices);
  }
  context.tool = fmt::format("beryl {}", kVersion);
  context.build_type = kBuildType;
  context.machine = Machine();
  context.policy = PolicyText(options.account.policy);
  context.energy_source = EnergySource(run.power, context.label);
  report.context = std::move(context);
  return report;
}

}  // namespace beryl::cli
