// The accounting rule written as plainly as possible, for tests to compare with.
//
// Time is cut wherever anything begins or ends. In each piece, the channel's energy is divided by
// the number of operations at work, found by looking at every operation. There is no running state,
// no order of events and no sum of differences, unlike in the fast implementation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "account/account.h"
#include "account/span.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl::account {

// An operation trace that can be written in a line. Times are in nanoseconds.
class OpTraceMaker {
 public:
  // A kind that has only a name: one operation outside of modules.
  uint32_t Kind(const std::string& name, Phase phase = Phase::kForward) {
    const auto [place, is_new] = kinds_.try_emplace({name, phase}, trace_.kinds.size());
    if (is_new) {
      OpKind kind;
      kind.op = trace_.strings.Intern(name);
      kind.type = kind.op;
      kind.path = trace_.paths.Intern(kRootPath, kind.op, PathKind::kOperation);
      kind.phase = phase;
      trace_.kinds.push_back(kind);
    }
    return static_cast<uint32_t>(place->second);
  }

  uint16_t Device(const std::string& name) {
    auto& devices = trace_.devices;
    auto place = std::find(devices.begin(), devices.end(), name);
    if (place == devices.end()) place = devices.insert(devices.end(), name);
    return static_cast<uint16_t>(place - devices.begin());
  }

  OpTraceMaker& Add(const std::string& name, int64_t start_ns, int64_t end_ns,
                    const std::string& device = "CPU:0", uint32_t lane = kNoLane,
                    uint32_t step = kNoStep) {
    trace_.ops.push_back({Nanos{start_ns}, Nanos{end_ns}, Kind(name), lane, step, Device(device)});
    return *this;
  }

  OpTrace& trace() { return trace_; }
  operator const OpTrace&() const { return trace_; }  // NOLINT(google-explicit-constructor)

 private:
  OpTrace trace_;
  std::map<std::pair<std::string, Phase>, size_t> kinds_;
};

inline PowerChannel MakeChannel(const std::string& name, std::vector<int64_t> times_ns,
                                std::vector<double> values,
                                ChannelKind kind = ChannelKind::kPowerGauge,
                                const std::vector<size_t>& gaps = {}) {
  PowerChannel channel;
  channel.name = name;
  channel.scope = ScopeOfName(name);
  channel.kind = kind;
  for (const int64_t time : times_ns) channel.times.push_back(Nanos{time});
  channel.values = std::move(values);
  for (const size_t gap : gaps) channel.gaps.push_back({gap, GapReason::kCounterWentDown});
  return channel;
}

inline PowerTrace MakePower(std::vector<PowerChannel> channels) {
  PowerTrace power;
  power.channels = std::move(channels);
  return power;
}

// What one channel delivered between two times without a reading between them. Nothing if power is
// unknown there.
inline std::optional<long double> EnergyBetween(const PowerChannel& channel, Policy policy,
                                                Nanos from, Nanos to) {
  for (size_t i = 0; i + 1 < channel.times.size(); ++i) {
    if (!(channel.times[i] <= from && to <= channel.times[i + 1])) continue;
    if (std::any_of(channel.gaps.begin(), channel.gaps.end(),
                    [&](const PowerGap& gap) { return gap.reading == i + 1; })) {
      return std::nullopt;
    }
    const auto length = static_cast<long double>((channel.times[i + 1] - channel.times[i]).value);
    const auto part = static_cast<long double>((to - from).value);
    const long double first = channel.values[i];
    const long double second = channel.values[i + 1];
    if (channel.kind == ChannelKind::kEnergyCounter) return (second - first) * part / length;
    if (policy != Policy::kLinear) return first * part * 1e-9L;
    // A straight line's mean over an interval is its value in the middle, weighted from both ends
    // so that nothing cancels.
    const long double middle = static_cast<long double>((from - channel.times[i]).value) + part / 2;
    return (first * (length - middle) + second * middle) / length * part * 1e-9L;
  }
  return std::nullopt;
}

// The indices of the operations at work over [from, to), in which none begins or ends.
inline std::vector<size_t> AtWork(const OpTrace& trace, const std::vector<bool>& devices,
                                  Nanos offset, Nanos from, Nanos to) {
  std::vector<size_t> running;
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const Op& op = trace.ops[i];
    if (devices[op.device] && op.start + offset <= from && to <= op.end + offset) {
      running.push_back(i);
    }
  }
  std::vector<size_t> at_work;
  for (const size_t i : running) {
    const Op& op = trace.ops[i];
    const bool called_another = std::any_of(running.begin(), running.end(), [&](size_t j) {
      const Op& other = trace.ops[j];
      return op.lane != kNoLane && other.lane == op.lane &&
             std::pair(other.start, j) > std::pair(op.start, i);
    });
    if (!called_another) at_work.push_back(i);
  }
  return at_work;
}

struct ReferenceShare {
  long double energy_j = 0;
  int64_t busy_ns = 0;
  uint64_t count = 0;
};

struct ReferenceAccount {
  std::map<std::pair<uint32_t, uint32_t>, ReferenceShare> shares;  // by kind and step
  long double total_j = 0;
  long double idle_j = 0;
  long double outside_j = 0;
  int64_t uncovered_ns = 0;
};

// Attributes one channel to the operations on the flagged devices. `offset` is added to operation
// times. `every_ns` also cuts time at every nanosecond. Only what is in `window` counts.
inline ReferenceAccount ShareOutSlowly(const OpTrace& trace, const std::vector<bool>& devices,
                                       Nanos offset, const PowerChannel& channel, Policy policy,
                                       bool every_ns = false, Span window = kAlways) {
  ReferenceAccount account;
  std::set<Nanos> cuts(channel.times.begin(), channel.times.end());
  std::optional<Nanos> first_start;
  std::optional<Nanos> last_end;
  for (const Op& op : trace.ops) {
    if (!devices[op.device]) continue;
    const Nanos start = op.start + offset;
    const bool reaches_in =
        op.end > op.start ? op.end + offset > window.from : start >= window.from;
    if (reaches_in && start < window.to) ++account.shares[{op.kind, op.step}].count;
    if (op.end <= op.start) continue;
    cuts.insert(op.start + offset);
    cuts.insert(op.end + offset);
    first_start = std::min(first_start.value_or(op.start + offset), op.start + offset);
    last_end = std::max(last_end.value_or(op.end + offset), op.end + offset);
  }
  if (window.from != kAlways.from) cuts.insert({window.from, window.to});
  if (every_ns && !cuts.empty()) {
    const Nanos last = *cuts.rbegin();
    for (Nanos now = *cuts.begin(); now < last; now = now + Nanos{1}) cuts.insert(now);
  }
  for (auto cut = cuts.begin(); cut != cuts.end() && std::next(cut) != cuts.end(); ++cut) {
    const Nanos from = *cut;
    const Nanos to = *std::next(cut);
    if (from < window.from || to > window.to) continue;
    const std::vector<size_t> at_work = AtWork(trace, devices, offset, from, to);
    const auto energy = EnergyBetween(channel, policy, from, to);
    if (!energy) {
      account.uncovered_ns += (to - from).value * static_cast<int64_t>(at_work.size());
      continue;
    }
    account.total_j += *energy;
    if (at_work.empty()) {
      account.idle_j += *energy;
      if (!first_start || from < *first_start || from >= *last_end) account.outside_j += *energy;
    }
    for (const size_t i : at_work) {
      ReferenceShare& share = account.shares[{trace.ops[i].kind, trace.ops[i].step}];
      share.energy_j += *energy / static_cast<long double>(at_work.size());
      share.busy_ns += (to - from).value;
    }
  }
  return account;
}

// A channel's energy between two times, reading by reading.
inline long double IntegrateSlowly(const PowerChannel& channel, Policy policy, Nanos from,
                                   Nanos to) {
  long double sum = 0;
  for (size_t i = 0; i + 1 < channel.times.size(); ++i) {
    const Nanos start = std::max(from, channel.times[i]);
    const Nanos end = std::min(to, channel.times[i + 1]);
    if (start < end) sum += EnergyBetween(channel, policy, start, end).value_or(0);
  }
  return sum;
}

}  // namespace beryl::account
