#include "types/footprint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace beryl {

double ChannelAccount::ClosureError() const {
  const double left = (total - attributed - idle - unattributed).value;
  const double size = std::max({std::fabs(total.value), std::fabs(measured.value), 1e-300});
  // Numbers too large to add up cannot be checked: that is no closure.
  return std::isfinite(left) ? std::fabs(left) / size : std::numeric_limits<double>::infinity();
}

std::vector<uint32_t> KnownSteps(const Footprint& footprint) {
  std::set<uint32_t> steps;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) steps.insert(share.step);
  }
  return {steps.begin(), steps.end()};
}

Seconds TimeAtWork(const BusyByChannel& busy, const Footprint& footprint) {
  if (busy.size() == 1) return {busy.begin()->second};
  // Several meters of the same devices saw the same executions. Of meters with overlapping devices,
  // the one with more devices saw what the others saw.
  std::map<std::vector<uint16_t>, double> by_devices;
  for (const auto& [channel, seconds] : busy) {
    double& longest = by_devices[footprint.channels[channel].fed_devices];
    longest = std::max(longest, seconds);
  }
  std::vector<std::pair<std::vector<uint16_t>, double>> groups(by_devices.begin(),
                                                               by_devices.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::set<uint16_t> seen;
  Seconds time;
  for (const auto& [devices, seconds] : groups) {
    const bool overlaps = std::any_of(devices.begin(), devices.end(),
                                      [&](uint16_t device) { return seen.contains(device); });
    if (overlaps) continue;
    seen.insert(devices.begin(), devices.end());
    time += Seconds{seconds};
  }
  return time;
}

}  // namespace beryl
