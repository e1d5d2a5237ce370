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

Result<bool> AddPower(ByteSource& source, const PipelineOptions& options, RunInput& run) {
  auto power = sources::ReadPowerFile(source, options.power);
  if (!power) return power.error();
  for (PowerChannel& channel : power->channels) {
    for (const PowerChannel& known : run.power.channels) {
      if (known.name == channel.name) {
        return MisuseError(
            fmt::format("{}: has readings of {}, which {} has too; name each device once",
                        source.name(), channel.name, run.power.report.file));
      }
    }
    run.power.channels.push_back(std::move(channel));
  }
  for (const Finding& finding : power->report.findings) {
    run.power_notes.push_back(fmt::format("{}: {} reading(s): {} (first at byte {})", source.name(),
                                          finding.count, finding.reason, finding.first_offset));
  }
  std::string& files = run.power.report.file;
  files += (files.empty() ? "" : " and ") + source.name();
  return true;
}

Result<RunInput> ReadRun(const std::vector<std::string>& ops_files,
                         const std::vector<std::string>& power_files,
                         const PipelineOptions& options) {
  RunInput run;
  for (const std::string& file : power_files) {
    auto source = ByteSource::Open(file);
    if (!source) return source.error();
    if (auto ok = AddPower(*source, options, run); !ok) return ok.error();
  }
  for (const std::string& file : ops_files) {
    auto source = ByteSource::Open(file);
    if (!source) return source.error();
    Progress progress("reading " + file, source->file_size(), ::isatty(STDERR_FILENO) == 1);
    importers::ImportOptions reading = options.import;
    reading.progress = [&](uint64_t bytes) { progress.Update(bytes); };
    if (auto ok = importers::Import(*source, reading, run.ops); !ok) return ok.error();
  }
  return run;
}

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
  report.notes.insert(report.notes.end(), run.power_notes.begin(), run.power_notes.end());
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
