#include "flows/recorded_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "tree/tree.h"
#include "types/fold_tree.h"

namespace beryl::flows {
namespace {

bool IsCountedRound(const WindowEnergy& window) { return window.runs > 0 && !window.warm_up; }

// The counted rounds with known energy: a round in which a meter was silent has none, and the
// others tell what a run takes. If none is known, one of unknown energy.
std::vector<const WindowEnergy*> RoundsOf(const Recorded& recorded, bool ours) {
  std::vector<const WindowEnergy*> rounds;
  std::vector<const WindowEnergy*> unknown;
  for (const WindowEnergy& window : recorded.measured.windows) {
    if (!IsCountedRound(window)) continue;
    ((ours ? window.ours : window.energy) ? rounds : unknown).push_back(&window);
  }
  if (rounds.empty() && !unknown.empty()) rounds.push_back(unknown.front());
  return rounds;
}

// "CPU and GPU"
std::string KindsOfDevices(const Measurement& measured) {
  std::set<std::string> kinds;
  for (const DeviceEnergy& device : measured.devices) {
    kinds.insert(device.device.substr(0, device.device.find(':')));
  }
  return fmt::format("{}", fmt::join(kinds, " and "));
}

// What gaps leave out. A meter that a machine lacks is missing on both sides of a comparison.
std::string MissingOf(const Measurement& measured) {
  std::vector<std::string> missing;
  for (const DeviceEnergy& device : measured.devices) {
    Seconds silent;
    for (const MeterGap& gap : device.gaps) silent += gap.duration;
    if (!device.energy) missing.push_back(device.device);
    if (device.energy && silent > Seconds{}) {
      missing.push_back(fmt::format("{} for {}", device.device, FormatSeconds(silent)));
    }
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

class Builder {
 public:
  Builder(const Recorded& recorded, std::string label, bool ours)
      : recorded_(recorded), ours_(ours) {
    run_.label = std::move(label);
  }

  RecordedRun Whole(bool one_channel) {
    const Measurement& measured = recorded_.measured;
    run_.missing = MissingOf(measured);
    if (one_channel) {
      Joules idle;
      for (const DeviceEnergy& device : measured.devices) {
        idle += device.split.idle.value_or(Joules{});
      }
      return Single(measured.total.energy, measured.total.ours, idle, measured.duration);
    }
    for (size_t i = 0; i < measured.devices.size(); ++i) AddDevice(i);
    return Done();
  }

  // Of one execution of the command, on average over the rounds.
  RecordedRun MeanOf(const std::vector<const WindowEnergy*>& rounds) {
    std::optional<Joules> energy = Joules{};
    std::optional<Joules> ours = Joules{};
    Seconds duration;
    const auto count = static_cast<double>(rounds.size());
    const auto add = [&](std::optional<Joules>& sum, const std::optional<Joules>& of, double runs) {
      sum = sum && of ? std::optional(*sum + *of / (runs * count)) : std::nullopt;
    };
    for (const WindowEnergy* const round : rounds) {
      const double runs = round->runs;
      add(energy, round->energy, runs);
      add(ours, round->ours, runs);
      duration += round->duration / (runs * count);
    }
    return Single(energy, ours, Joules{}, duration);
  }

 private:
  RecordedRun Single(const std::optional<Joules>& energy, const std::optional<Joules>& ours,
                     Joules idle, Seconds duration) {
    const std::string name = KindsOfDevices(recorded_.measured);
    const auto channel = AddChannel(name, energy, ours_ ? idle : Joules{});
    AddShare({}, name, channel, ours_ ? ours : energy, duration);
    return Done();
  }

  void AddDevice(size_t index) {
    const Measurement& measured = recorded_.measured;
    const DeviceEnergy& device = measured.devices[index];
    const auto channel = AddChannel(device.device, device.energy,
                                    ours_ ? device.split.idle.value_or(Joules{}) : Joules{});
    run_.footprint.channels[channel].origin = device.origin;
    if (!ours_) {
      AddShare({}, device.device, channel, device.energy, device.known_time);
      return;
    }
    for (const ProcessEnergy& process : measured.processes) {
      if (process.owner != TaskOwner::kWatched || index >= process.energy_j.size()) continue;
      AddShare(process.name, device.device, channel, IfKnown<Joules>(process.energy_j[index]),
               process.cpu_time);
    }
  }

  uint16_t AddChannel(const std::string& name, const std::optional<Joules>& energy, Joules idle) {
    ChannelAccount account;
    account.channel = name;
    account.policy = "as recorded";
    account.total = energy.value_or(Joules{});
    account.measured = account.total;
    account.idle = idle;
    account.unattributed = account.total - idle;
    run_.footprint.channels.push_back(std::move(account));
    return static_cast<uint16_t>(run_.footprint.channels.size() - 1);
  }

  // Energy of a process on a device; no process: of everything there.
  void AddShare(const std::string& process, const std::string& device, uint16_t channel,
                const std::optional<Joules>& energy, Seconds busy) {
    OpTrace& ops = run_.ops;
    OpKind kind;
    if (!process.empty()) {
      kind.scope = ops.paths.Intern(kind.scope, ops.strings.Intern(process), PathKind::kModule,
                                    ops.strings.Intern(""));
    }
    kind.op = ops.strings.Intern(device);
    kind.type = kind.op;
    kind.path = ops.paths.Intern(kind.scope, kind.op, PathKind::kOperation);
    auto known = std::find(ops.kinds.begin(), ops.kinds.end(), kind);
    if (known == ops.kinds.end()) known = ops.kinds.insert(known, kind);
    EnergyShare share;
    share.kind = static_cast<uint32_t>(known - ops.kinds.begin());
    share.channel = channel;
    share.count = 1;
    const auto time = Nanos{static_cast<int64_t>(busy.value * 1e9)};
    (energy ? share.busy : share.unknown) = std::max(time, Nanos{1});
    share.energy = energy.value_or(Joules{});
    ChannelAccount& account = run_.footprint.channels[channel];
    account.attributed += share.energy;
    account.unattributed -= share.energy;
    run_.footprint.shares.push_back(share);
  }

  RecordedRun Done() {
    const Measurement& measured = recorded_.measured;
    run_.folded = Fold(tree::Build(run_.ops));
    run_.report.provenance = measured.provenance;
    run_.report.context = measured.context;
    run_.report.channels = run_.footprint.channels;
    return std::move(run_);
  }

  const Recorded& recorded_;
  bool ours_;
  RecordedRun run_;
};

}  // namespace

Result<ComparedEnergy> WhatToCompare(const std::vector<Recorded>& recordings,
                                     const std::optional<EnergyOf>& asked) {
  if (asked == EnergyOf::kMachine) return ComparedEnergy::kMachine;
  const auto unknown = std::find_if(recordings.begin(), recordings.end(), [](const Recorded& one) {
    return !one.measured.total.ours || !one.measured.total.all_split;
  });
  if (unknown == recordings.end()) return ComparedEnergy::kOurs;
  if (!asked) return ComparedEnergy::kMachine;
  return InvalidError(
      fmt::format("{}: it is not known how much of the energy of all its devices is ours; beryl "
                  "record tells that of a command that it starts, or of a process by its pid",
                  Printable(unknown->label)),
      {"only_ours", "pid"});
}

std::vector<std::vector<RecordedRun>> RunsOf(const std::vector<Recorded>& recordings,
                                             ComparedEnergy of, bool rounds_are_runs) {
  const bool ours = of == ComparedEnergy::kOurs;
  const bool any_rounds =
      std::any_of(recordings.begin(), recordings.end(),
                  [&](const Recorded& recorded) { return !RoundsOf(recorded, ours).empty(); });
  std::vector<std::vector<RecordedRun>> all;
  for (const Recorded& recorded : recordings) {
    std::vector<RecordedRun>& runs = all.emplace_back();
    const auto rounds = RoundsOf(recorded, ours);
    if (!rounds.empty() && !rounds_are_runs) {
      runs.push_back(Builder(recorded, recorded.label, ours).MeanOf(rounds));
    }
    for (size_t i = 0; i < rounds.size() && rounds_are_runs; ++i) {
      const std::string label = fmt::format("{}: {}", recorded.label, rounds[i]->name);
      runs.push_back(Builder(recorded, label, ours).MeanOf({rounds[i]}));
    }
    if (runs.empty()) {
      runs.push_back(Builder(recorded, recorded.label, ours).Whole(any_rounds));
    }
    // Said once, not for every round.
    runs.front().report.notes = recorded.measured.notes;
  }
  return all;
}

RunConditions ConditionsOf(const Measurement& measured) {
  RunConditions conditions;
  conditions.duration = measured.duration;
  conditions.estimated = measured.total.origin == Origin::kEstimated;
  for (const ChannelEnergy& channel : measured.channels) {
    if (!conditions.estimated || channel.meter.origin != Origin::kEstimated) continue;
    // What follows the curve says where it comes from.
    const std::string& reads = channel.meter.reads;
    if (!reads.empty()) conditions.estimates.insert(reads.substr(0, reads.find(';')));
  }
  Joules ours;
  Joules others;
  for (const DeviceEnergy& device : measured.devices) {
    if (!device.split.ours || !device.split.others) continue;
    ours += *device.split.ours;
    others += *device.split.others;
  }
  if (ours + others > Joules{}) conditions.others_share = others / (ours + others);
  for (const FeatureMean& feature : measured.features) {
    if (!feature.mean) continue;
    const std::string of = feature.device.empty() ? "CPU" : feature.device;
    if (feature.name == "c_clk" || feature.name == "g_clk") conditions.clocks[of] = *feature.mean;
    // An estimate does not follow it.
    const bool is_temperature = feature.name == "c_temp" || feature.name == "g_temp";
    if (is_temperature && !conditions.estimated) conditions.temperatures[of] = *feature.mean;
  }
  return conditions;
}

}  // namespace beryl::flows
