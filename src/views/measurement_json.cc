#include <algorithm>
#include <array>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_writer.h"
#include "views/measurement.h"
#include "views/notes.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// "2026-11-16T18:00:00.000000Z"; nothing: no plausible date.
std::optional<std::string> IsoTime(Nanos time) {
  const int64_t seconds = time.value / 1'000'000'000;
  if (seconds < 946'684'800 || seconds > 4'102'444'800) return std::nullopt;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06d}Z", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     time.value % 1'000'000'000 / 1000);
}

class MeasurementJson {
 public:
  explicit MeasurementJson(const Measurement& measured) : measured_(measured) {}

  std::string Write() {
    BeginResult(json_, "beryl.measurement/2", measured_.provenance);
    Head();
    json_.Objects("devices", measured_.devices, [&](const auto& device) { Device(device); });
    Totals();
    Whole();
    json_.Objects("channels", measured_.channels, [&](const auto& channel) { Channel(channel); });
    json_.Objects("processes", measured_.processes, [&](const auto& process) { Process(process); });
    json_.Objects("windows", measured_.windows, [&](const auto& window) { Window(window); });
    Rounds();
    Overhead();
    Features();
    WriteNotes(json_, measured_.notes);
    return EndResult(json_);
  }

 private:
  void Head() {
    const Recording& recording = measured_.recording;
    json_.Member("tool", ToolText(measured_.provenance));
    json_.Member("machine", recording.machine);
    json_.Member("run_files", measured_.context.run_files);
    json_.Member("command", recording.command);
    json_.Member("pids", recording.pids);
    json_.Member("start", IsoTime(recording.start));
    json_.Member("seconds", measured_.duration);
    json_.Member("period_ms", recording.period.value > 0
                                  ? std::optional(recording.period.seconds() * 1e3)
                                  : std::nullopt);
    json_.Member("exit_code",
                 recording.exit_code >= 0 ? std::optional(recording.exit_code) : std::nullopt);
    json_.Member("cpu_time", recording.activity.cpu_time);
  }

  void Gaps(const std::vector<MeterGap>& gaps) {
    json_.Objects("gaps", gaps, [&](const MeterGap& gap) {
      json_.Member("start_s", gap.start);
      json_.Member("seconds", gap.duration);
      json_.Member("kind", GapReasonName(gap.why));
      json_.Member("reason", GapReasonWords(gap.why));
    });
  }

  void Device(const DeviceEnergy& device) {
    json_.Member("device", device.device);
    json_.Member("energy_j", device.energy);
    json_.Member("low_j", device.low);
    json_.Member("high_j", device.high);
    json_.Member("mean_w", device.mean_power);
    json_.Member("seconds", device.known_time);
    json_.Member("ours_j", device.split.ours);
    json_.Member("rest_j", device.rest);
    json_.Member("others_j", device.split.others);
    json_.Member("recorder_j", device.split.recorder);
    json_.Member("idle_j", device.split.idle);
    json_.Member("origin", OriginName(device.origin));
    json_.Member("source", device.source);
    json_.Objects("channels", device.channels,
                  [&](const std::string& name) { Channel(Named(name)); });
    Gaps(device.gaps);
    json_.Member("slices_w", device.slices_w);
  }

  const ChannelEnergy& Named(const std::string& name) const {
    static const ChannelEnergy kNothing;
    for (const ChannelEnergy& channel : measured_.channels) {
      if (channel.name == name) return channel;
    }
    return kNothing;
  }

  void Channel(const ChannelEnergy& channel) {
    const MeterTraits& meter = channel.meter;
    const bool counter = channel.kind == ChannelKind::kEnergyCounter;
    json_.Member("channel", channel.name);
    json_.Member("scope", ScopeName(channel.scope));
    json_.Member("kind", counter ? "counter" : "gauge");
    json_.Member("energy_j", channel.energy);
    json_.Member("seconds", channel.known_time);
    json_.Member("within", channel.within.empty() ? std::nullopt : std::optional(channel.within));
    json_.Member("origin", OriginName(meter.origin));
    json_.Member("source", meter.source);
    json_.Member("reads", meter.reads);
    json_.Member("unit", meter.unit);
    json_.Member("resolution", meter.unit.empty() ? kUnknown : meter.per_count);
    json_.Member("wrap", meter.wrap);
    json_.Member("update_period_us", meter.update_period_us);
    json_.Member("moves", meter.moves);
    json_.Member("readings", channel.readings);
    json_.Member("wraps", channel.wraps);
    Gaps(channel.gaps);
  }

  void Totals() {
    const TotalEnergy& total = measured_.total;
    json_.Key("total").BeginObject();
    json_.Member("energy_j", total.energy);
    json_.Member("ours_j", total.all_split ? total.ours : std::nullopt);
    json_.Member("mean_w", total.mean_power);
    json_.Member("origin", OriginName(total.origin));
    json_.Member("complete", total.missing.empty());
    json_.Member("missing", total.missing);
    json_.End();
  }

  void Whole() {
    const WholeMachine& whole = measured_.whole;
    json_.Key("whole");
    if (whole.channels.empty()) {
      json_.Value(std::optional<bool>());
      return;
    }
    json_.BeginObject();
    json_.Member("channel", fmt::format("{}", fmt::join(whole.channels, " + ")));
    json_.Member("energy_j", whole.energy);
    json_.Member("devices_j", whole.devices);
    json_.Member("rest_j", whole.rest);
    json_.End();
  }

  void Process(const ProcessEnergy& process) {
    json_.Member("pid", process.pid);
    json_.Member("name", process.name);
    json_.Member("owner", process.owner == TaskOwner::kWatched ? "watched" : "recorder");
    json_.Member("threads", process.threads);
    json_.Member("cpu_s", process.cpu_time);
    json_.Key("energy_j").BeginObject();
    for (size_t i = 0; i < process.energy_j.size(); ++i) {
      json_.Member(measured_.devices[i].device, process.energy_j[i]);
    }
    json_.End();
  }

  void Window(const WindowEnergy& window) {
    json_.Member("name", window.name);
    json_.Member("warm_up", window.warm_up);
    json_.Member("runs", window.runs > 0 ? std::optional(window.runs) : std::nullopt);
    json_.Member("start_s", window.start);
    json_.Member("seconds", window.duration);
    json_.Member("energy_j", window.energy);
    json_.Member("ours_j", window.ours);
  }

  void Rounds() {
    auto spread = [&](const char* key, const auto& of) {
      json_.Key(key).BeginObject().Member("n", of.rounds);
      json_.Member("mean", of.mean).Member("deviation", of.deviation).End();
    };
    json_.Key("rounds").BeginObject().Member("n", measured_.round_time.rounds);
    spread("energy_j", measured_.round_energy);
    spread("seconds", measured_.round_time);
    json_.End();
  }

  void Overhead() {
    const SamplerCost& cost = measured_.recording.cost;
    // Without ticks the recorder did not come to say what it cost.
    const bool told = cost.ticks > 0;
    auto count = [&](uint64_t number) { return told ? std::optional(number) : std::nullopt; };
    json_.Key("overhead").BeginObject();
    json_.Member("cpu_pct", measured_.overhead_cpu_pct);
    json_.Member("energy_j", measured_.overhead);
    json_.Member("ticks", count(cost.ticks));
    json_.Member("missed_ticks", count(cost.missed));
    json_.Member("late_ticks", count(cost.late));
    json_.Member("lost_samples", count(cost.lost));
    json_.Member("late_p50_us", cost.late_p50_us);
    json_.Member("late_p99_us", cost.late_p99_us);
    json_.Member("late_max_us", cost.late_max_us);
    json_.Member("resident_bytes",
                 cost.resident_bytes > 0 ? count(cost.resident_bytes) : std::optional<uint64_t>());
    json_.End();
  }

  // All names are always there. They stand for the machine and for an only GPU; `gpus` has those of
  // each.
  void Features() {
    static constexpr std::array<std::string_view, 8> kAlways = {
        "cpu_util", "mem_usg", "gpu_util", "gm_usg", "g_clk", "gm_clk", "latency", "gpu_energy"};
    std::set<std::string> gpus;
    for (const FeatureMean& feature : measured_.features) {
      if (!feature.device.empty()) gpus.insert(feature.device);
    }
    auto stands_for_all = [&](const FeatureMean& feature) {
      return feature.device.empty() || gpus.size() == 1;
    };
    json_.Key("features").BeginObject();
    for (const std::string_view name : kAlways) {
      std::optional<double> mean;
      for (const FeatureMean& feature : measured_.features) {
        if (feature.name == name && stands_for_all(feature)) mean = feature.mean;
      }
      json_.Member(name, mean);
    }
    for (const FeatureMean& feature : measured_.features) {
      const bool written = std::find(kAlways.begin(), kAlways.end(), feature.name) != kAlways.end();
      if (!written && stands_for_all(feature)) json_.Member(feature.name, feature.mean);
    }
    json_.Key("gpus").BeginObject();
    for (const std::string& gpu : gpus) {
      json_.Key(gpu).BeginObject();
      for (const FeatureMean& feature : measured_.features) {
        if (feature.device == gpu) json_.Member(feature.name, feature.mean);
      }
      json_.End();
    }
    json_.End();
    json_.End();
  }

  const Measurement& measured_;
  JsonWriter json_;
};

}  // namespace

std::string WriteMeasurementJson(const Measurement& measured) {
  return MeasurementJson(measured).Write();
}

}  // namespace beryl::views
