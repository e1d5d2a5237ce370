// Power that a battery delivers while it discharges.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/count_file.h"
#include "sources/machine_files.h"
#include "sources/proc_file.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr const char* kSource = "battery";

constexpr uint64_t kMostMicro = 1'000'000'000'000;  // a megawatt

CountFile Gauge(const std::string& path) { return {path, kMostMicro, CountFile::Sign::kIgnored}; }

// One battery: its state, and its power from one file, or from current and voltage.
class Battery {
 public:
  explicit Battery(const std::string& folder)
      : status_((folder + "/status").c_str()),
        power_(Gauge(folder + "/power_now")),
        current_(Gauge(folder + "/current_now")),
        voltage_(Gauge(folder + "/voltage_now")) {
    has_power_ = power_.Read().state == ReadState::kOk;
    has_product_ =
        current_.Read().state == ReadState::kOk && voltage_.Read().state == ReadState::kOk;
  }

  enum class Does : uint8_t { kRests, kGives, kTakes };
  Does does() const {
    std::array<char, 32> buffer;
    const std::string_view status = Trim(status_.Read(buffer));
    return status == "Discharging" ? Does::kGives
           : status == "Charging"  ? Does::kTakes
                                   : Does::kRests;
  }
  const char* reads() const {
    return has_power_ ? "power_now" : has_product_ ? "current_now times voltage_now" : nullptr;
  }

  MeterReading Microwatts() {
    if (has_power_) return power_.Read();
    const MeterReading amperes = current_.Read();
    const MeterReading volts = voltage_.Read();
    const double product =
        static_cast<double>(amperes.count) * 1e-6 * static_cast<double>(volts.count);
    return {std::max(amperes.state, volts.state), static_cast<uint64_t>(product)};
  }

 private:
  ProcFile status_;
  CountFile power_;
  CountFile current_;
  CountFile voltage_;
  bool has_power_ = false;
  bool has_product_ = false;
};

// The total power of discharging batteries. An idle battery counts as 0: some machines empty one
// battery before the next. If none discharges, or one charges, the machine has another supply.
class Batteries final : public PowerSource {
 public:
  explicit Batteries(std::vector<Battery> batteries) : batteries_(std::move(batteries)) {
    channels_.emplace_back();
  }
  PowerChannel& channel() { return channels_.front(); }
  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void Read(std::span<MeterReading> out) override {
    MeterReading sum{ReadState::kOk, 0};
    bool feeds = false;
    for (Battery& battery : batteries_) {
      const Battery::Does does = battery.does();
      if (does == Battery::Does::kRests) continue;
      feeds = does == Battery::Does::kGives;
      if (!feeds) break;
      const MeterReading reading = battery.Microwatts();
      sum.state = std::max(sum.state, reading.state);
      sum.count += reading.count;
    }
    if (!feeds) sum.state = ReadState::kGone;
    if (sum.state != ReadState::kOk) sum.count = 0;
    out[0] = sum;
  }

 private:
  std::vector<PowerChannel> channels_;
  std::vector<Battery> batteries_;
};

}  // namespace

Result<FoundSource> FindBattery(const Search& search) {
  FoundSource found;
  const std::string supplies = search.machine.sysfs + "/class/power_supply";
  std::vector<Battery> batteries;
  std::string reads;
  bool feeds = false;
  bool tells = true;
  for (const std::string& name : NamesIn(supplies)) {
    const std::string folder = fmt::format("{}/{}", supplies, name);
    if (ReadLine(folder + "/type").value_or("") != "Battery") continue;
    // Belongs to a mouse or a keyboard.
    if (ReadLine(folder + "/scope").value_or("") == "Device") continue;
    Battery battery(folder);
    const Battery::Does does = battery.does();
    if (does != Battery::Does::kGives) {
      found.refused.push_back(
          {kSource,
           fmt::format("{}: its status is {}, so it does not feed the machine", name,
                       Printable(ReadLine(folder + "/status").value_or("unknown"))),
           "unplug the machine to measure with its battery, or use an external meter"});
    } else if (!battery.reads()) {
      found.refused.push_back({kSource, name + ": it reports neither power nor current and voltage",
                               "use an external meter"});
    }
    feeds = feeds || does == Battery::Does::kGives;
    tells = tells && (does == Battery::Does::kRests ||
                      (does == Battery::Does::kGives && battery.reads() != nullptr));
    if (!battery.reads()) continue;
    reads += fmt::format("{}{}/{}", reads.empty() ? "" : " and ", name, battery.reads());
    batteries.push_back(std::move(battery));
  }
  if (!feeds || !tells) return found;
  found.refused.clear();  // for idle batteries: they are read once they discharge
  auto source = std::make_unique<Batteries>(std::move(batteries));
  PowerChannel& channel = source->channel();
  channel.name = "battery";
  channel.scope = ChannelScope::kWall;
  channel.kind = ChannelKind::kPowerGauge;
  channel.meter.source = kSource;
  channel.meter.reads = std::move(reads);
  channel.meter.unit = "uW";
  channel.meter.per_count = 1e-6;
  found.power = std::move(source);
  return found;
}

}  // namespace beryl::sources
