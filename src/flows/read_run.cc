#include "flows/read_run.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

bool HasMachine(const PowerTrace& power, const std::string& machine) {
  return !machine.empty() && std::any_of(power.channels.begin(), power.channels.end(),
                                         [&](const PowerChannel& channel) {
                                           return MachineOf(channel.name) == machine;
                                         });
}

// "rank0" for "runs/rank0.pt.trace.json.gz".
std::string StemOf(const std::string& file) {
  std::string stem = std::filesystem::path(file).filename().string();
  return stem.substr(0, stem.find('.', 1));
}

// The files in a profiler's log directory, one per host: `DIR`, `DIR/plugins/profile/<run>` or
// `DIR/<run>`. If there are several runs, it takes the newest, because their names are dates.
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
      "{}: no traces in this directory: expected *.xplane.pb or *.trace.json.gz in it or in "
      "plugins/profile/<run> below it",
      directory));
}

// The content of a power file: readings and, in a recording, who used the machine.
struct PowerInput : PowerTrace {
  std::optional<Recording> recording;
  std::vector<Note> notes;
};
// Power files by name. Each is read once, because standard input cannot be read again.
using PowerFiles = std::map<std::string, PowerInput>;

Result<PowerInput> ReadPowerOfRun(ByteSource& source) {
  RunInput run;
  TRY(store::Load(source, {}, run));
  PowerInput power;
  static_cast<PowerTrace&>(power) = std::move(run.power);
  LeaveOutSilent(run.recording.has_value(), power);
  if (power.channels.empty()) {
    return InvalidError(fmt::format("{}: the run file has no power readings", source.name()));
  }
  power.recording = std::move(run.recording);
  power.notes = std::move(run.notes);
  if (power.recording) AppendNotes(power.notes, power.recording->notes);
  // Of what the file says about operations, only where it broke is about its readings.
  for (const ImportReport& report : run.ops.reports) {
    if (report.format == "beryl-run") AppendNotes(power.notes, report.notes);
  }
  return power;
}

Result<PowerInput> ReadPowerInput(ByteSource& source, const RunOptions& options) {
  const auto first = TRY(source.Peek(64));
  if (store::IsRunFile(first)) return ReadPowerOfRun(source);
  auto power = TRY(sources::ReadPowerFile(source, options.power));
  PowerInput input;
  static_cast<PowerTrace&>(input) = std::move(power);
  return input;
}

Result<PowerFiles> ReadPower(const std::vector<RankFiles>& ranks, const RunOptions& options) {
  PowerFiles read;
  for (const RankFiles& rank : ranks) {
    for (const auto* files : {&rank.shared_power, &rank.power}) {
      for (const std::string& file : *files) {
        auto source = TRY(ByteSource::Open(file));
        auto power = TRY(ReadPowerInput(source, options));
        power.report.file = source.name();
        read[file] = std::move(power);
      }
    }
  }
  return read;
}

// If there are as many power files as traces and all read the same devices, each trace gets its own
// and is a rank on a machine of its own.
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

// Replaces directories by their files, each the trace of a host. Files with power of their own
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
      auto files = TRY(FilesOf(file));
      if (files.size() == 1 || !rank.rank.empty()) {
        plain.insert(plain.end(), files.begin(), files.end());
        continue;
      }
      for (const std::string& host : files) {
        resolved.push_back({StemOf(host), {host}, {}, std::exchange(rank.power, {})});
      }
    }
    rank.ops = std::move(plain);
    if (!rank.ops.empty()) resolved.push_back(std::move(rank));
  }
  return resolved;
}

// Adds a power file's channels to a run. `machine`: where they belong, if there are several.
Status AddChannels(PowerTrace power, const std::string& machine, RunInput& run) {
  const std::string& file = power.report.file;
  for (PowerChannel& channel : power.channels) {
    if (!machine.empty()) channel.name = machine + "/" + channel.name;
    for (const PowerChannel& known : run.power.channels) {
      if (known.name == channel.name) {
        return MisuseError(
            fmt::format("{}: has readings of {}, as does {}; each device may have one source", file,
                        channel.name, run.power.report.file));
      }
    }
    run.power.channels.push_back(std::move(channel));
  }
  AppendNotes(run.notes, power.report.notes, file);
  std::string& files = run.power.report.file;
  files += (files.empty() ? "" : " and ") + file;
  run.context.power_files.push_back(file);
  return {};
}

}  // namespace

Status AddPower(ByteSource& source, const RunOptions& options, RunInput& run) {
  auto power = TRY(sources::ReadPowerFile(source, options.power));
  power.report.file = source.name();
  return AddChannels(std::move(power), "", run);
}

Result<RunInput> ReadRun(const std::vector<RankFiles>& given, const RunOptions& options) {
  auto power = TRY(ReadPower(given, options));
  auto ranks = TRY(ResolveRanks(given, power));
  RunInput run;
  const auto machines = std::count_if(ranks.begin(), ranks.end(),
                                      [](const RankFiles& rank) { return !rank.power.empty(); });
  const bool shared = std::any_of(ranks.begin(), ranks.end(),
                                  [](const RankFiles& rank) { return !rank.shared_power.empty(); });
  auto machine_of = [&](const RankFiles& rank) {
    if (rank.power.empty()) return HasMachine(run.power, rank.rank) ? rank.rank : std::string();
    return machines > 1 || shared ? rank.rank : std::string();
  };
  auto add_power = [&](const std::vector<std::string>& files,
                       const std::string& machine) -> Status {
    for (const std::string& file : files) {
      PowerInput& input = power.at(file);
      AppendNotes(run.notes, input.notes, file);
      // With several machines, the machine of a task is unknown.
      if (!run.recording && machine.empty()) run.recording = std::move(input.recording);
      TRY(AddChannels(std::move(input), machine, run));
    }
    return {};
  };
  for (const RankFiles& rank : ranks) {
    TRY(add_power(rank.shared_power, ""));
    TRY(add_power(rank.power, machine_of(rank)));
  }
  for (const RankFiles& rank : ranks) {
    run.ops.machine = machine_of(rank);
    importers::ImportOptions reading = options.import;
    reading.rank = rank.rank;
    for (const std::string& file : rank.ops) {
      auto source = TRY(ByteSource::Open(file));
      if (options.watch_reading) reading.progress = options.watch_reading(file, source.file_size());
      TRY(importers::Import(source, reading, run.ops));
      reading.progress = nullptr;
      run.context.ops_files.push_back(file);
    }
  }
  run.ops.machine.clear();
  return run;
}

std::vector<std::string> FilesOfRun(const std::string& run) {
  std::error_code ignored;
  if (std::filesystem::exists(run, ignored)) return {run};  // its name may contain a +
  const auto files = Split(run, '+');
  return {files.begin(), files.end()};
}

Result<RunInput> ReadRunFiles(const std::string& name) {
  const std::vector<std::string> files = FilesOfRun(name);
  RunInput run;
  std::set<std::string> stems;
  for (const std::string& file : files) stems.insert(StemOf(file));
  for (size_t i = 0; i < files.size(); ++i) {
    auto source = TRY(ByteSource::Open(files[i]));
    store::LoadOptions loading;
    if (files.size() > 1) {
      loading.rank = stems.size() == files.size() ? StemOf(files[i]) : std::to_string(i);
      loading.machine = loading.rank;
    }
    TRY(store::Load(source, loading, run));
    run.context.run_files.push_back(files[i]);
  }
  return run;
}

void LeaveOutSilent(bool recorded, PowerTrace& power) {
  std::erase_if(power.channels, [&](const PowerChannel& channel) {
    const bool stood_still = recorded && channel.times.size() <= channel.gaps.size() + 1;
    return channel.times.empty() || stood_still;
  });
}

}  // namespace beryl::flows
