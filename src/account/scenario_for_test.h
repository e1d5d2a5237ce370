// Random runs, for property tests of accounting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "account/account.h"
#include "account/reference_testing.h"

namespace beryl::account {

using Random = std::mt19937_64;

inline int64_t Uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
inline bool Chance(Random& random, double probability) {
  return std::bernoulli_distribution(probability)(random);
}

struct Scenario {
  OpTraceMaker ops;
  PowerTrace power;
  AccountOptions options;
  Nanos offset;
};

// A short stretch has many equal starts and ends; a long one has lengths of all sizes.
inline Scenario RandomScenario(Random& random) {
  Scenario scenario;
  constexpr int64_t kEpochNs = 1'700'000'000'123'456'789;
  const int64_t base =
      std::vector<int64_t>{0, -40, kEpochNs, -kEpochNs}[static_cast<size_t>(Uniform(random, 0, 3))];
  const int64_t length =
      std::vector<int64_t>{30, 1'000, 50'000'000'000}[static_cast<size_t>(Uniform(random, 0, 2))];
  const std::vector<int64_t> offsets = {0, 0, 17, -length / 3, kEpochNs};
  scenario.offset =
      Nanos{base < kEpochNs && base >= -40 ? offsets[static_cast<size_t>(Uniform(random, 0, 4))]
                                           : offsets[static_cast<size_t>(Uniform(random, 0, 3))]};
  if (scenario.offset.value != 0) scenario.options.clock_offset = scenario.offset;
  scenario.options.policy = static_cast<Policy>(Uniform(random, 0, 3));

  std::vector<std::string> devices = {"CPU:0"};
  if (Chance(random, 0.4)) devices.push_back("CPU:1");
  if (Chance(random, 0.5)) devices.push_back("GPU:0");
  if (Chance(random, 0.3)) devices.push_back("GPU:1");
  if (Chance(random, 0.2)) devices.push_back("job:worker/task:1/CPU:0");
  if (Chance(random, 0.2)) devices.push_back("fan");
  for (const std::string& device : devices) scenario.ops.Device(device);

  const int64_t lanes = Uniform(random, 1, 3);
  const int64_t kinds = Uniform(random, 1, 6);
  const int64_t count = Chance(random, 0.05) ? 0 : Uniform(random, 1, 30);
  for (int64_t i = 0; i < count; ++i) {
    const auto device = Uniform(random, 0, static_cast<int64_t>(devices.size()) - 1);
    const int64_t start = base + Uniform(random, 0, length);
    const int64_t most = Chance(random, 0.3) ? length : length / 8 + 1;
    int64_t end = start + (Chance(random, 0.1) ? 0 : Uniform(random, 0, most));
    const uint32_t lane = Chance(random, 0.3)
                              ? kNoLane
                              : static_cast<uint32_t>(device * 3 + Uniform(random, 0, lanes - 1));
    const uint32_t step =
        Chance(random, 0.3) ? kNoStep : static_cast<uint32_t>(Uniform(random, 0, 2));
    const std::string name = fmt::format("op{}", Uniform(random, 0, kinds - 1));
    scenario.ops.Add(name, start, end, devices[static_cast<size_t>(device)], lane, step);
    // The same once more, or one that starts or ends with it.
    if (Chance(random, 0.15)) {
      scenario.ops.Add(name, start, end, devices[static_cast<size_t>(device)], lane, step);
    }
    if (Chance(random, 0.15) && start < end) {
      const int64_t from = Chance(random, 0.5) ? start : Uniform(random, start, end);
      const int64_t to = Chance(random, 0.5) ? end : Uniform(random, from, end + length / 10);
      scenario.ops.Add("inner", from, to, devices[static_cast<size_t>(device)], lane, step);
    }
  }

  const double magnitude = std::uniform_real_distribution<double>(0, 14)(random);
  for (const char* name : {"CPU:0", "CPU:1", "CPU:2", "DRAM:0", "DRAM:3", "CORE:0", "GPU:0",
                           "GPU:1", "GPU:7", "psys", "wall", "fan"}) {
    if (Chance(random, 0.5) && !(scenario.power.channels.empty() && std::string("fan") == name)) {
      continue;
    }
    const int64_t readings = Chance(random, 0.05) ? 1 : Uniform(random, 2, 25);
    std::set<int64_t> times;
    const int64_t shift = Uniform(random, -length / 2, length / 2);
    const int64_t window = Uniform(random, 1, length);
    for (int64_t i = 0; i < readings; ++i) {
      times.insert(base + scenario.offset.value + shift + Uniform(random, 0, window));
    }
    const ChannelKind kind =
        Chance(random, 0.4) ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
    std::vector<double> values;
    std::vector<size_t> gaps;
    double counter = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      double value =
          std::exp(std::uniform_real_distribution<double>(-magnitude, magnitude)(random));
      if (Chance(random, 0.1)) value = 0;
      if (kind == ChannelKind::kPowerGauge) {
        values.push_back(value);
        continue;
      }
      if (i > 0 && Chance(random, 0.1)) {
        gaps.push_back(i);
        counter = 0;
      } else if (i > 0) {
        counter += value;
      }
      values.push_back(counter);
    }
    scenario.power.channels.push_back(
        MakeChannel(name, {times.begin(), times.end()}, std::move(values), kind, gaps));
  }
  return scenario;
}

// The feeds, computed independently: every host channel feeds every CPU, unless the trace names
// several and all of them have their channel.
inline std::vector<bool> FedDevices(const Scenario& scenario, const PowerChannel& channel) {
  const OpTrace& ops = scenario.ops;
  std::set<std::string> used;
  for (const Op& op : ops.ops) used.insert(ops.devices[op.device]);
  std::set<std::string> channels;
  for (const PowerChannel& each : scenario.power.channels) channels.insert(each.name);
  const bool one_to_one = used.contains("CPU:0") && used.contains("CPU:1") &&
                          channels.contains("CPU:0") && channels.contains("CPU:1");
  std::vector<bool> fed;
  for (const std::string& device : ops.devices) {
    const bool host = channel.name.starts_with("CPU:") || channel.name.starts_with("DRAM:");
    const std::string own = "CPU:" + channel.name.substr(channel.name.find(':') + 1);
    if (host && one_to_one && channels.contains(own)) {
      fed.push_back(device == own);
    } else if (host) {
      fed.push_back(device.starts_with("CPU:"));
    } else {
      fed.push_back(device == channel.name && (device.starts_with("GPU:") || device == "fan"));
    }
  }
  return fed;
}

// The channels directly inside a container. One that tells nothing contains nothing.
inline std::vector<const PowerChannel*> Inside(const PowerTrace& power,
                                               const std::string& container) {
  const auto tells = [&](const std::string& name) {
    return std::any_of(power.channels.begin(), power.channels.end(), [&](const PowerChannel& each) {
      return each.name == name && each.times.size() > each.gaps.size() + 1;
    });
  };
  const bool board = tells("psys");
  const bool package = tells("CPU:0");
  std::vector<const PowerChannel*> inside;
  if (!tells(container)) return inside;
  for (const PowerChannel& each : power.channels) {
    const bool host = each.name.starts_with("CPU:") || each.name.starts_with("DRAM:") ||
                      (each.name == "CORE:0" && !package);
    const bool elsewhere = each.name.starts_with("GPU:") || each.name == "fan";
    if (container == "psys" && host) inside.push_back(&each);
    if (container == "wall" && (elsewhere || (host && !board) || each.name == "psys")) {
      inside.push_back(&each);
    }
  }
  return inside;
}

inline bool SpansMeet(const Scenario& scenario) {
  const OpTrace& ops = scenario.ops;
  if (ops.ops.empty()) return true;
  int64_t ops_start = std::numeric_limits<int64_t>::max();
  int64_t ops_end = std::numeric_limits<int64_t>::min();
  for (const Op& op : ops.ops) {
    ops_start = std::min(ops_start, (op.start + scenario.offset).value);
    ops_end = std::max(ops_end, (op.end + scenario.offset).value);
  }
  int64_t power_start = std::numeric_limits<int64_t>::max();
  int64_t power_end = std::numeric_limits<int64_t>::min();
  for (const PowerChannel& channel : scenario.power.channels) {
    power_start = std::min(power_start, channel.times.front().value);
    power_end = std::max(power_end, channel.times.back().value);
  }
  return ops_end > power_start && ops_start < power_end;
}

}  // namespace beryl::account
