#include "flows/account_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyze/analyze.h"
#include "base/out_of_memory.h"
#include "base/text.h"
#include "flows/window_request.h"

namespace beryl::flows {
namespace {

constexpr size_t kTimelineSlices = 600;

// "; of CPU:0 only what the watched processes used"
std::string WhoseText(const AccountedRun& run, const std::vector<std::string>& ours) {
  if (!run.energy_of) return "";
  if (*run.energy_of == EnergyOf::kOurs) return "; only what the watched processes used";
  if (*run.energy_of == EnergyOf::kMachine) return "; all of it, whoever used it";
  return fmt::format("; of {} only what the watched processes used", fmt::join(ours, ", "));
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

// Removes what cannot be accounted.
Status PrepareRecording(RunInput& run) {
  if (run.recording && run.ops.Glance().All().count == 0) {
    const std::string file = run.context.run_files.empty() ? "FILE" : run.context.run_files.front();
    Provenance provenance;
    for (const ImportReport& report : run.ops.reports) AddIncomplete(report.notes, "", provenance);
    return InvalidError(
        fmt::format("{}: {} has no operations: beryl show {} shows its energy, and beryl account "
                    "attributes that to the operations of a trace if {} is given as its power",
                    file,
                    provenance.incomplete.empty() ? "this recording"
                                                  : "what is left of this incomplete run file",
                    file, file),
        {"ops", "power"});
  }
  const bool had_meters = !run.power.channels.empty();
  LeaveOutSilent(run.recording.has_value(), run.power);
  if (had_meters && run.power.channels.empty()) {
    return InvalidError(fmt::format("{}: no meter gave readings", run.power.report.file));
  }
  return {};
}

// Whether the energy of other processes is to be taken out.
Result<bool> WantsOurs(const RunOptions& options, const RunInput& run) {
  if (options.energy_of == EnergyOf::kMachine) return false;
  const bool asked = options.energy_of.has_value();
  if (!run.recording) {
    if (!asked) return false;
    return MisuseError(
        "which energy is ours is unknown: only a recording has who used the machine; beryl record "
        "makes one",
        {"only_ours"});
  }
  if (!account::IsAnythingWatched(*run.recording)) {
    if (!asked) return false;
    return InvalidError(
        "this recording watched no process, so none of its energy is known to be ours; beryl "
        "record "
        "watches one that it starts, or one by its pid",
        {"only_ours", "pid"});
  }
  // Of several machines, the recording tells who used the first.
  const auto& channels = run.power.channels;
  return asked || std::all_of(channels.begin(), channels.end(), [](const PowerChannel& channel) {
           return MachineOf(channel.name).empty();
         });
}

// A channel that feeds no operation may stay whole: none of it is shared out.
EnergyOf WhoseOf(const Footprint& footprint, const std::vector<std::string>& ours) {
  if (ours.empty()) return EnergyOf::kMachine;
  const bool all = std::all_of(
      footprint.channels.begin(), footprint.channels.end(), [&](const ChannelAccount& channel) {
        return channel.attributed == Joules{} ||
               std::find(ours.begin(), ours.end(), channel.channel) != ours.end();
      });
  return all ? EnergyOf::kOurs : EnergyOf::kMixed;
}

}  // namespace

std::string EnergySource(const PowerTrace& power, const std::string& label) {
  std::vector<std::string> read;
  std::vector<std::string> guessed;
  for (const PowerChannel& channel : power.channels) {
    if (channel.meter.origin == Origin::kEstimated) {
      const auto& error = channel.meter.error;
      guessed.push_back(channel.name + (error ? fmt::format(" (±{})", FormatPercent(*error)) : ""));
      continue;
    }
    read.push_back(fmt::format(
        "{} ({})", channel.name,
        channel.kind == ChannelKind::kEnergyCounter ? "energy counter" : "power gauge"));
  }
  std::vector<std::string> parts;
  if (!read.empty()) {
    parts.push_back(fmt::format("{}: {}", label.empty() ? "measured" : label + ", not measured",
                                fmt::join(read, ", ")));
  }
  if (!guessed.empty()) parts.push_back(fmt::format("estimated: {}", fmt::join(guessed, ", ")));
  return fmt::format("{} from {}", fmt::join(parts, "; "), power.report.file);
}

Result<AccountedRun> AccountRun(RunInput input, const RunOptions& options) {
  AccountedRun run;
  run.input = std::move(input);
  TRY(PrepareRecording(run.input));
  GiveBackMemory();  // of the readers' threads
  const bool wants_ours = TRY(WantsOurs(options, run.input));
  std::vector<std::string> ours;
  if (wants_ours) {
    auto power = account::Virtualize(run.input.power, *run.input.recording,
                                     account::SplitRule::kBusy, run.input.notes);
    ours = std::move(power.ours);
    run.input.power = std::move(power);
  }
  run.accounting = options.account;
  run.accounting.window = TRY(FindWindow(options.part, run.input, options.account));
  auto footprint = TRY(account::Account(run.input.power, run.input.ops, run.accounting));
  run.footprint = std::move(footprint);
  // Whatever counts operations counts those of the window. Offsets of events are of all of them.
  if (!options.import.event_offsets) {
    account::LeaveOutside(run.input.power, run.accounting, run.input.ops);
  }
  GiveBackMemory();  // of the attribution: the tree of a run with a million names needs it
  if (run.input.recording) run.energy_of = WhoseOf(run.footprint, ours);
  run.built = tree::Build(run.input.ops);
  run.folded = Fold(run.built, &run.folded_of);
  RunContext& context = run.input.context;
  context.policy = PolicyText(options.account.policy);
  context.energy_source = EnergySource(run.input.power, context.label) + WhoseText(run, ours);
  if (const auto& window = run.footprint.window) {
    context.energy_source += "; only " + WindowText(*window);
  }
  return run;
}

namespace {

std::vector<std::string> SourcesOf(const AccountedRun& run) {
  const RunContext& context = run.input.context;
  std::vector<std::string> sources = context.run_files;
  // The sources of a run file are not read again.
  if (sources.empty()) {
    sources = context.ops_files;
    sources.insert(sources.end(), context.power_files.begin(), context.power_files.end());
  }
  if (run.description) sources.push_back(run.description->model);
  return sources;
}

}  // namespace

std::vector<Note> MissingInput(const AccountedRun& run) {
  Provenance provenance;
  AddIncomplete(run.footprint.notes, "", provenance);
  AddIncomplete(run.input.notes, "", provenance);
  for (const ImportReport& import : run.input.ops.reports) {
    AddIncomplete(import.notes, import.file, provenance);
  }
  return provenance.incomplete;
}

AccountReport MakeReport(const AccountedRun& run, const RunOptions& options) {
  const OpTrace& ops = run.input.ops;
  AccountReport report;
  tree::BesideTree beside;
  tree::BesideTree beside_folded;
  if (run.model) {
    beside = run.model->beside;
    beside_folded = tree::FoldBeside(beside, run.folded_of, run.folded.tree.size());
    report.alignment = run.model->alignment;
  }
  report.folded = tree::MeasuredColumns(ops, run.footprint, run.folded, beside_folded);
  if (!options.only_folded) {
    // Of a run with very many names, these take most of the memory.
    report.tree = tree::MeasuredColumns(ops, run.footprint, run.built, beside);
    report.operations = analyze::Operations(ops, run.footprint, run.built);
  }
  report.summary = analyze::Operations(ops, run.footprint, run.folded);
  report.clock_offset = run.footprint.clock_offset;
  report.clock_reason = run.footprint.clock_reason;
  report.channels = run.footprint.channels;
  report.notes = run.footprint.notes;
  report.imports = ops.reports;
  report.steps = run.footprint.whole_steps;
  AppendNotes(report.notes, run.input.notes);
  if (options.timeline) {
    report.timeline = account::MakeTimeline(run.input.power, ops, run.accounting,
                                            report.clock_offset, kTimelineSlices);
  }
  report.context = run.input.context;
  report.provenance = MakeProvenance(SourcesOf(run), run.profile);
  report.provenance.incomplete = MissingInput(run);
  report.provenance.energy_of = run.energy_of;
  report.provenance.window = run.footprint.window;
  return report;
}

std::vector<double> SelfSeconds(const AccountedRun& run) {
  return tree::SelfSeconds(run.footprint, run.built);
}

Provenance ProvenanceOf(const std::vector<AccountReport>& runs) {
  std::vector<std::string> sources;
  for (const AccountReport& run : runs) {
    sources.insert(sources.end(), run.provenance.sources.begin(), run.provenance.sources.end());
  }
  Provenance provenance = MakeProvenance(std::move(sources));
  for (const AccountReport& run : runs) AddIncomplete(run.provenance.incomplete, "", provenance);
  if (runs.empty()) return provenance;
  provenance.energy_of = runs.front().provenance.energy_of;
  for (const AccountReport& run : runs) {
    const std::optional<EnergyOf>& whose = run.provenance.energy_of;
    if (whose != provenance.energy_of) provenance.energy_of = EnergyOf::kMixed;
  }
  return provenance;
}

}  // namespace beryl::flows
