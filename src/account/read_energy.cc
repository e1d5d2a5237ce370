#include "account/account.h"
#include "account/power_curve.h"

namespace beryl::account {

std::vector<ReadEnergy> ReadEnergies(const PowerTrace& power, const AccountOptions& options) {
  std::vector<ReadEnergy> channels;
  for (const PowerChannel& channel : power.channels) {
    PowerCurve curve = MakeCurve(channel, options.policy);
    if (options.window) curve = Within(curve, {options.window->from, options.window->to});
    ReadEnergy& read = channels.emplace_back();
    read.channel = channel.name;
    read.origin = channel.meter.origin;
    for (size_t i = 0; i < curve.start_w.size(); ++i) {
      const Watts mean{curve.start_w[i] + (curve.end_w[i] - curve.start_w[i]) / 2};
      read.energy_j.push_back((mean * (curve.times[i + 1] - curve.times[i])).value);
    }
    read.times = std::move(curve.times);
  }
  return channels;
}

}  // namespace beryl::account
