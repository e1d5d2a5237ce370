#include "cli/pipeline.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/progress.h"
#include "base/text.h"

namespace beryl::cli {
namespace {

constexpr size_t kTimelineSlices = 600;

// `label` says if the power is not what it seems.
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

bool HasMachine(const PowerTrace& power, const std::string& machine) {
  return !machine.empty() && std::any_of(power.channels.begin(), power.channels.end(),
                                         [&](const PowerChannel& channel) {
                                           return MachineOf(channel.name) == machine;
                                         });
}

// "rank0" of "runs/rank0.pt.trace.json.gz".
std::string StemOf(const std::string& file) {
  std::string stem = std::filesystem::path(file).filename().string();
  return stem.substr(0, stem.find('.', 1));
}

// What a profiler's log directory holds, one file a host: `DIR`, `DIR/plugins/profile/<run>` or
// `DIR/<run>`; of several runs the newest by name, as their names are dates.
Result<std::vector<std::string>> FilesOf(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path at = directory;
  if (fs::is_directory(at / "plugins" / "profile", error)) at = at / "plugins" / "profile";
  for (int level = 0; level < 2; ++level) {
    for (const char* ending : {".xplane.pb", ".trace.json.gz", ".trace.json"}) {
      std::vector<std::string> files;
      for (const fs::directory_entry& entry : fs::directory_iterator(at, error)) {
        if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
      }
      std::sort(files.begin(), files.end());
      if (!files.empty()) return files;
    }
    fs::path newest;
    for (const fs::directory_entry& entry : fs::directory_iterator(at, error)) {
      if (entry.is_directory(error) && entry.path() > newest) newest = entry.path();
    }
    if (error) return IoError(fmt::format("{}: cannot read: {}", at.string(), error.message()));
    if (newest.empty()) break;
    at = newest;
  }
  return InvalidError(fmt::format(
      "{}: a directory without traces: expected *.xplane.pb or *.trace.json.gz in it or in "
      "plugins/profile/<run> below it",
      directory));
}

// What a power file holds: readings, and, of a recording, who used the machine.
struct PowerInput : PowerTrace {
  std::optional<Recording> recording;
  std::vector<Note> notes;
};
// Power files by name, each read once: standard input cannot be read again.
using PowerFiles = std::map<std::string, PowerInput>;

bool ToldNothing(const PowerChannel& channel) { return channel.times.empty(); }

// What the meters of a recording did not tell cannot be accounted. One that stood still all the
// time is nothing but gaps.
void LeaveOutSilent(PowerTrace& power) {
  std::erase_if(power.channels, [](const PowerChannel& channel) {
    return ToldNothing(channel) || channel.times.size() <= channel.gaps.size() + 1;
  });
}

Result<PowerInput> ReadPowerOfRun(ByteSource& source) {
  RunInput run;
  if (auto ok = store::Load(source, {}, run); !ok) return ok.error();
  PowerInput power;
  static_cast<PowerTrace&>(power) = std::move(run.power);
  if (run.recording) LeaveOutSilent(power);
  std::erase_if(power.channels, ToldNothing);
  if (power.channels.empty()) {
    return InvalidError(fmt::format("{}: a run file without power readings", source.name()));
  }
  power.recording = std::move(run.recording);
  power.notes = std::move(run.notes);
  if (power.recording) AppendNotes(power.notes, power.recording->notes);
  return power;
}

Result<PowerInput> ReadPowerInput(ByteSource& source, const PipelineOptions& options) {
  const auto first = source.Peek(64);
  if (!first) return first.error();
  if (store::IsRunFile(*first)) return ReadPowerOfRun(source);
  auto power = sources::ReadPowerFile(source, options.power);
  if (!power) return power.error();
  PowerInput input;
  static_cast<PowerTrace&>(input) = std::move(*power);
  return input;
}

Result<PowerFiles> ReadPower(const std::vector<RankFiles>& ranks, const PipelineOptions& options) {
  PowerFiles read;
  for (const RankFiles& rank : ranks) {
    for (const auto* files : {&rank.shared_power, &rank.power}) {
      for (const std::string& file : *files) {
        auto source = ByteSource::Open(file);
        if (!source) return source.error();
        auto power = ReadPowerInput(*source, options);
        if (!power) return power.error();
        power->report.file = source->name();
        read[file] = std::move(*power);
      }
    }
  }
  return read;
}

// As many power files as traces that all read the same devices: each trace has its own, and is a
// rank on a machine of its own.
void PairFiles(const PowerFiles& read, std::vector<RankFiles>& ranks) {
  const std::vector<std::string> ops = ranks.front().ops;
  const std::vector<std::string> power = ranks.front().power;
  if (ranks.size() > 1 || power.size() < 2 || ops.size() != power.size()) return;
  std::set<std::string> devices;
  bool repeated = false;
  for (const std::string& file : power) {
    for (const PowerChannel& channel : read.at(file).channels) {
      repeated = !devices.insert(channel.name).second || repeated;
    }
  }
  if (!repeated) return;
  ranks.clear();
  std::set<std::string> names;
  for (const std::string& file : ops) names.insert(StemOf(file));
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string name = names.size() == ops.size() ? StemOf(ops[i]) : std::to_string(i);
    ranks.push_back({name, {ops[i]}, {power[i]}, {}});
  }
}

// Directories become their files, each the trace of a host; files that each have power of their own
// become ranks.
Result<std::vector<RankFiles>> ResolveRanks(std::vector<RankFiles> ranks, const PowerFiles& read) {
  PairFiles(read, ranks);
  std::vector<RankFiles> resolved;
  for (RankFiles& rank : ranks) {
    std::vector<std::string> plain;
    for (const std::string& file : rank.ops) {
      if (!std::filesystem::is_directory(file)) {
        plain.push_back(file);
        continue;
      }
      auto files = FilesOf(file);
      if (!files) return files.error();
      if (files->size() == 1 || !rank.rank.empty()) {
        plain.insert(plain.end(), files->begin(), files->end());
        continue;
      }
      for (const std::string& host : *files) {
        resolved.push_back({StemOf(host), {host}, {}, std::exchange(rank.power, {})});
      }
    }
    rank.ops = std::move(plain);
    if (!rank.ops.empty()) resolved.push_back(std::move(rank));
  }
  return resolved;
}

// Adds a power file's channels to a run. `machine`: whose they are, where there are several.
Result<bool> AddChannels(PowerTrace power, const std::string& machine, RunInput& run) {
  const std::string& file = power.report.file;
  for (PowerChannel& channel : power.channels) {
    if (!machine.empty()) channel.name = machine + "/" + channel.name;
    for (const PowerChannel& known : run.power.channels) {
      if (known.name == channel.name) {
        return MisuseError(
            fmt::format("{}: has readings of {}, which {} has too; name each device once", file,
                        channel.name, run.power.report.file));
      }
    }
    run.power.channels.push_back(std::move(channel));
  }
  AppendNotes(run.notes, power.report.notes, file);
  std::string& files = run.power.report.file;
  files += (files.empty() ? "" : " and ") + file;
  run.context.power_files.push_back(file);
  return true;
}

}  // namespace

Result<bool> AddPower(ByteSource& source, const PipelineOptions& options, RunInput& run) {
  auto power = sources::ReadPowerFile(source, options.power);
  if (!power) return power.error();
  power->report.file = source.name();
  return AddChannels(std::move(*power), "", run);
}

Result<RunInput> ReadRun(const std::vector<RankFiles>& given, const PipelineOptions& options) {
  auto power = ReadPower(given, options);
  if (!power) return power.error();
  auto ranks = ResolveRanks(given, *power);
  if (!ranks) return ranks.error();
  RunInput run;
  const auto machines = std::count_if(ranks->begin(), ranks->end(),
                                      [](const RankFiles& rank) { return !rank.power.empty(); });
  const bool shared = std::any_of(ranks->begin(), ranks->end(),
                                  [](const RankFiles& rank) { return !rank.shared_power.empty(); });
  auto machine_of = [&](const RankFiles& rank) {
    if (rank.power.empty()) return HasMachine(run.power, rank.rank) ? rank.rank : std::string();
    return machines > 1 || shared ? rank.rank : std::string();
  };
  auto add_power = [&](const std::vector<std::string>& files, const std::string& machine) {
    for (const std::string& file : files) {
      PowerInput& input = power->at(file);
      AppendNotes(run.notes, input.notes, file);
      // Of several machines, whose a task is would not be known.
      if (!run.recording && machine.empty()) run.recording = std::move(input.recording);
      if (auto ok = AddChannels(std::move(input), machine, run); !ok) return ok;
    }
    return Result<bool>(true);
  };
  for (const RankFiles& rank : *ranks) {
    if (auto ok = add_power(rank.shared_power, ""); !ok) return ok.error();
    if (auto ok = add_power(rank.power, machine_of(rank)); !ok) return ok.error();
  }
  for (const RankFiles& rank : *ranks) {
    run.ops.machine = machine_of(rank);
    importers::ImportOptions reading = options.import;
    reading.rank = rank.rank;
    for (const std::string& file : rank.ops) {
      auto source = ByteSource::Open(file);
      if (!source) return source.error();
      Progress progress("reading " + file, source->file_size(), ::isatty(STDERR_FILENO) == 1);
      reading.progress = [&](uint64_t bytes) { progress.Update(bytes); };
      if (auto ok = importers::Import(*source, reading, run.ops); !ok) return ok.error();
      run.context.ops_files.push_back(file);
    }
  }
  run.ops.machine.clear();
  return run;
}

Result<RunInput> ReadRunFiles(const std::vector<std::string>& files) {
  RunInput run;
  std::set<std::string> stems;
  for (const std::string& file : files) stems.insert(StemOf(file));
  for (size_t i = 0; i < files.size(); ++i) {
    auto source = ByteSource::Open(files[i]);
    if (!source) return source.error();
    store::LoadOptions loading;
    if (files.size() > 1) {
      loading.rank = stems.size() == files.size() ? StemOf(files[i]) : std::to_string(i);
      loading.machine = loading.rank;
    }
    if (auto ok = store::Load(*source, loading, run); !ok) return ok.error();
    run.context.run_files.push_back(files[i]);
  }
  return run;
}

namespace {

// Takes out what cannot be accounted, and what is not ours if that is wanted.
Result<bool> PrepareRecording(const PipelineOptions& options, RunInput& run) {
  if (run.recording && run.ops.Glance().All().count == 0) {
    const std::string file = run.context.run_files.empty() ? "FILE" : run.context.run_files.front();
    return InvalidError(fmt::format(
        "{}: a recording without operations: beryl show {} says what it used, and beryl account "
        "--ops TRACE --power {} shares that out among the operations of a trace",
        file, file, file));
  }
  const bool had_meters = !run.power.channels.empty();
  if (run.recording) LeaveOutSilent(run.power);
  std::erase_if(run.power.channels, ToldNothing);
  if (had_meters && run.power.channels.empty()) {
    return InvalidError(fmt::format("{}: no meter told anything", run.power.report.file));
  }
  if (!options.only_ours) return true;
  if (!run.recording) {
    return MisuseError(
        "--only-ours: who used the machine is known only of a recording; beryl record makes one");
  }
  if (!account::IsAnythingWatched(*run.recording)) {
    return InvalidError(
        "--only-ours: no process was watched in this recording, so none of its energy is known to "
        "be ours; beryl record -- CMD or --pid N watches one");
  }
  run.power = account::Virtualize(run.power, *run.recording, account::SplitRule::kBusy, run.notes);
  return true;
}

}  // namespace

Result<AccountedRun> AccountRun(RunInput input, const PipelineOptions& options) {
  AccountedRun run;
  run.input = std::move(input);
  if (auto ok = PrepareRecording(options, run.input); !ok) return ok.error();
  auto footprint = account::Account(run.input.power, run.input.ops, options.account);
  if (!footprint) return footprint.error();
  run.footprint = std::move(*footprint);
  run.built = tree::Build(run.input.ops);
  run.folded = tree::Fold(run.built, &run.folded_of);
  RunContext& context = run.input.context;
  context.policy = PolicyText(options.account.policy);
  context.energy_source = EnergySource(run.input.power, context.label);
  return run;
}

namespace {

std::vector<std::string> SourcesOf(const AccountedRun& run) {
  const RunContext& context = run.input.context;
  std::vector<std::string> sources = context.run_files;
  // What a run file was made from is not read again.
  if (sources.empty()) {
    sources = context.ops_files;
    sources.insert(sources.end(), context.power_files.begin(), context.power_files.end());
  }
  if (run.description) sources.push_back(run.description->model);
  return sources;
}

}  // namespace

AccountReport MakeReport(const AccountedRun& run, const PipelineOptions& options) {
  const OpTrace& ops = run.input.ops;
  AccountReport report;
  tree::BesideTree beside;
  tree::BesideTree beside_folded;
  if (run.model) {
    beside = run.model->beside;
    beside_folded = tree::FoldBeside(beside, run.folded_of, run.folded.tree.size());
    report.alignment = run.model->alignment;
  }
  report.tree = tree::MeasuredColumns(ops, run.footprint, run.built, beside);
  report.folded = tree::MeasuredColumns(ops, run.footprint, run.folded, beside_folded);
  report.operations = tree::Operations(ops, run.footprint, run.built);
  report.summary = tree::Operations(ops, run.footprint, run.folded);
  report.clock_offset = run.footprint.clock_offset;
  report.clock_reason = run.footprint.clock_reason;
  report.channels = run.footprint.channels;
  report.notes = run.footprint.notes;
  report.imports = ops.reports;
  report.steps = ops.steps.size();
  AppendNotes(report.notes, run.input.notes);
  if (options.timeline) {
    report.timeline = account::MakeTimeline(run.input.power, ops, options.account,
                                            report.clock_offset, kTimelineSlices);
  }
  report.context = run.input.context;
  report.provenance = MakeProvenance(SourcesOf(run), run.profile);
  return report;
}

Provenance ProvenanceOf(const std::vector<AccountReport>& runs) {
  std::vector<std::string> sources;
  for (const AccountReport& run : runs) {
    sources.insert(sources.end(), run.provenance.sources.begin(), run.provenance.sources.end());
  }
  return MakeProvenance(std::move(sources));
}

}  // namespace beryl::cli
