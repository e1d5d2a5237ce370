// The power that a battery gives, while it gives any.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/count_file.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "battery";

// Power of all batteries together, in microwatts: from one file each, or from a current and a
// voltage.
class Batteries final : public PowerSource {
 public:
  Batteries() { channels_.emplace_back(); }

  void AddPower(CountFile power) { powers_.push_back(std::move(power)); }
  void AddProduct(CountFile current, CountFile voltage) {
    products_.emplace_back(std::move(current), std::move(voltage));
  }
  PowerChannel& channel() { return channels_.front(); }
  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    MeterReading sum{ReadState::kOk, 0};
    const auto add = [&](const MeterReading& reading, double microwatts) {
      sum.state = std::max(sum.state, reading.state);
      sum.count += static_cast<uint64_t>(microwatts);
    };
    for (CountFile& power : powers_) {
      const MeterReading reading = power.Read();
      add(reading, static_cast<double>(reading.count));
    }
    for (auto& [current, voltage] : products_) {
      const MeterReading amperes = current.Read();
      const MeterReading volts = voltage.Read();
      add({std::max(amperes.state, volts.state), 0},
          static_cast<double>(amperes.count) * 1e-6 * static_cast<double>(volts.count));
    }
    if (sum.state != ReadState::kOk) sum.count = 0;
    out[0] = sum;
  }

 private:
  std::vector<PowerChannel> channels_;
  std::vector<CountFile> powers_;
  std::vector<std::pair<CountFile, CountFile>> products_;
};

constexpr uint64_t kMostMicro = 1'000'000'000'000;  // a megawatt

}  // namespace

Result<FoundSource> FindBattery(const Search& search) {
  FoundSource found;
  const std::string supplies = search.machine.sysfs + "/class/power_supply";
  auto source = std::make_unique<Batteries>();
  std::vector<std::string> used;
  for (const std::string& name : NamesIn(supplies)) {
    const std::string folder = fmt::format("{}/{}", supplies, name);
    if (ReadLine(folder + "/type").value_or("") != "Battery") continue;
    // Of a mouse or a keyboard.
    if (ReadLine(folder + "/scope").value_or("") == "Device") continue;
    const std::string status = ReadLine(folder + "/status").value_or("not known");
    if (status != "Discharging") {
      found.refused.push_back(
          {kSource,
           fmt::format("{}: its status is {}, so it does not feed the machine", name,
                       Printable(status)),
           "unplug the machine to measure by its battery, or use an external meter (--meter)"});
      continue;
    }
    CountFile power(folder + "/power_now", kMostMicro);
    CountFile current(folder + "/current_now", kMostMicro);
    CountFile voltage(folder + "/voltage_now", kMostMicro);
    if (power.Read().state == ReadState::kOk) {
      source->AddPower(std::move(power));
      used.push_back(name + "/power_now");
    } else if (current.Read().state == ReadState::kOk && voltage.Read().state == ReadState::kOk) {
      source->AddProduct(std::move(current), std::move(voltage));
      used.push_back(name + "/current_now times voltage_now");
    } else {
      found.refused.push_back({kSource, name + ": it tells neither power nor current and voltage",
                               "use an external meter (--meter)"});
    }
  }
  if (used.empty()) return found;
  PowerChannel& channel = source->channel();
  channel.name = "battery";
  channel.scope = ChannelScope::kWall;
  channel.kind = ChannelKind::kPowerGauge;
  channel.meter.source = kSource;
  for (const std::string& one : used) {
    channel.meter.reads += (channel.meter.reads.empty() ? "" : " and ") + one;
  }
  channel.meter.unit = "uW";
  channel.meter.per_count = 1e-6;
  found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
