// The result of a recording: as text, JSON and CSV.
#include "views/measurement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "views/budget.h"
#include "views/draw/svg_parts.h"
#include "views/energy_use.h"
#include "views/text/csv_table.h"
#include "views/text/notes.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

std::string Csv(const Measurement& measured) {
  CsvTable csv("beryl.measurement/2", measured.provenance,
               "device,energy_j,low_j,high_j,mean_w,seconds,ours_j,others_j,recorder_j,idle_j,"
               "rest_j,origin,source,gap_s,ours_low_j,ours_high_j");
  for (const DeviceEnergy& device : measured.devices) {
    Seconds silent;
    for (const MeterGap& gap : device.gaps) silent += gap.duration;
    csv.Row(device.device, device.energy, device.low, device.high, device.mean_power,
            device.known_time, device.split.ours, device.split.others, device.split.recorder,
            device.split.idle, device.rest, OriginName(device.origin), device.source, silent,
            device.ours_low, device.ours_high);
  }
  return csv.Take();
}

// The first few missing items.
std::string MissingText(const TotalEnergy& total) {
  constexpr size_t kMost = 3;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(total.missing.size(), kMost));
  const auto first = total.missing.begin();
  std::string text = fmt::format("{}", fmt::join(first, first + shown, " and "));
  if (total.missing.size() > kMost) {
    text += fmt::format(" and {} more", total.missing.size() - kMost);
  }
  return Printable(text);
}

// "2026-11-16T18:00:00.000000Z"; empty if the date is not plausible.
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
    Costs();
    Overhead();
    Features();
    if (!measured_.budget.empty()) WriteBudget(json_, measured_.budget);
    WriteNotes(json_, measured_.notes);
    return EndResult(json_);
  }

 private:
  void Head() {
    const Recording& recording = measured_.recording;
    json_.Member("tool", ToolText(measured_.provenance)).Member("machine", recording.machine);
    json_.Member("run_files", measured_.context.run_files).Member("command", recording.command);
    json_.Member("pids", recording.pids).Member("start", IsoTime(recording.start));
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
      json_.Member("start_s", gap.start).Member("seconds", gap.duration);
      json_.Member("kind", GapReasonName(gap.why)).Member("reason", GapReasonWords(gap.why));
    });
  }

  void Device(const DeviceEnergy& device) {
    json_.Member("device", device.device).Member("energy_j", device.energy);
    json_.Member("low_j", device.low).Member("high_j", device.high);
    json_.Member("mean_w", device.mean_power).Member("seconds", device.known_time);
    json_.Member("ours_j", device.split.ours).Member("rest_j", device.rest);
    json_.Member("others_j", device.split.others).Member("recorder_j", device.split.recorder);
    json_.Member("idle_j", device.split.idle).Member("origin", OriginName(device.origin));
    json_.Member("source", device.source);
    json_.Member("ours_low_j", device.ours_low).Member("ours_high_j", device.ours_high);
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
    json_.Member("channel", channel.name).Member("scope", ScopeName(channel.scope));
    json_.Member("kind", counter ? "counter" : "gauge").Member("energy_j", channel.energy);
    json_.Member("seconds", channel.known_time);
    json_.Member("within", channel.within.empty() ? std::nullopt : std::optional(channel.within));
    json_.Member("origin", OriginName(meter.origin)).Member("source", meter.source);
    json_.Member("reads", meter.reads).Member("unit", meter.unit);
    json_.Member("resolution", meter.unit.empty() ? kUnknown : meter.per_count);
    json_.Member("wrap", meter.wrap).Member("update_period_us", meter.update_period_us);
    json_.Member("moves", meter.moves).Member("readings", channel.readings);
    json_.Member("wraps", channel.wraps);
    Gaps(channel.gaps);
  }

  void Totals() {
    const TotalEnergy& total = measured_.total;
    json_.Key("total").BeginObject();
    json_.Member("energy_j", total.energy);
    json_.Member("low_j", total.low).Member("high_j", total.high);
    const auto if_split = [&](const std::optional<Joules>& part) {
      return total.all_split ? part : std::nullopt;
    };
    json_.Member("ours_j", if_split(total.ours));
    json_.Member("ours_low_j", if_split(total.ours_low));
    json_.Member("ours_high_j", if_split(total.ours_high));
    json_.Member("mean_w", total.mean_power).Member("origin", OriginName(total.origin));
    json_.Member("complete", total.missing.empty()).Member("missing", total.missing);
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
    json_.Member("energy_j", whole.energy).Member("devices_j", whole.devices);
    json_.Member("rest_j", whole.rest);
    json_.End();
  }

  void Process(const ProcessEnergy& process) {
    json_.Member("pid", process.pid).Member("name", process.name);
    json_.Member("owner", process.owner == TaskOwner::kWatched ? "watched" : "recorder");
    json_.Member("threads", process.threads).Member("cpu_s", process.cpu_time);
    json_.Key("energy_j").BeginObject();
    for (size_t i = 0; i < process.energy_j.size(); ++i) {
      json_.Member(measured_.devices[i].device, process.energy_j[i]);
    }
    json_.End();
  }

  void Window(const WindowEnergy& window) {
    json_.Member("name", window.name).Member("warm_up", window.warm_up);
    json_.Member("runs", window.runs > 0 ? std::optional(window.runs) : std::nullopt);
    json_.Member("start_s", window.start).Member("seconds", window.duration);
    json_.Member("energy_j", window.energy).Member("ours_j", window.ours);
  }

  void Rounds() {
    auto statistics = [&](const char* key, const auto& of) {
      json_.Key(key).BeginObject().Member("n", of.rounds);
      json_.Member("mean", of.mean).Member("deviation", of.deviation).End();
    };
    json_.Key("rounds").BeginObject().Member("n", measured_.round_time.rounds);
    statistics("energy_j", measured_.round_energy);
    statistics("seconds", measured_.round_time);
    json_.Key("run").BeginObject();
    json_.Member("energy_of", EnergyOfName(measured_.run.energy_of));
    statistics("energy_j", measured_.run.energy);
    statistics("seconds", measured_.run.time);
    json_.End();
    json_.End();
  }

  void Costs() {
    json_.Key("costs");
    if (!measured_.costs) {
      json_.Value(std::optional<double>());
      return;
    }
    const auto price = [&](const char* key, const EnergyPrice& cost) {
      json_.Key(key).BeginObject();
      json_.Member("kwh", cost.kwh).Member("kwh_low", cost.kwh_low);
      json_.Member("kwh_high", cost.kwh_high).Member("price", cost.price);
      json_.Member("co2e_kg", cost.co2e_kg).End();
    };
    json_.BeginObject();
    price("ours", measured_.costs->ours);
    price("machine", measured_.costs->machine);
    WriteElectricity(json_, measured_.costs->electricity);
    json_.End();
  }

  void Overhead() {
    const SamplerCost& cost = measured_.recording.cost;
    // Without ticks, the recorder did not report its cost.
    const bool told = cost.ticks > 0;
    auto count = [&](uint64_t number) { return told ? std::optional(number) : std::nullopt; };
    json_.Key("overhead").BeginObject();
    json_.Member("cpu_pct", measured_.overhead_cpu_pct).Member("energy_j", measured_.overhead);
    json_.Member("ticks", count(cost.ticks)).Member("missed_ticks", count(cost.missed));
    json_.Member("late_ticks", count(cost.late)).Member("lost_samples", count(cost.lost));
    json_.Member("late_p50_us", cost.late_p50_us).Member("late_p99_us", cost.late_p99_us);
    json_.Member("late_max_us", cost.late_max_us);
    json_.Member("resident_bytes",
                 cost.resident_bytes > 0 ? count(cost.resident_bytes) : std::optional<uint64_t>());
    json_.End();
  }

  // All names are always present. They describe the machine and a single GPU; `gpus` has those of
  // each GPU.
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

namespace {

// "13.1 J (6.55 J to 19.7 J)"
std::string WithInterval(std::optional<Joules> energy, std::optional<Joules> low,
                         std::optional<Joules> high) {
  if (!low || !high) return JoulesOrDash(energy);
  return fmt::format("{} ({} to {})", FormatJoules(energy), FormatJoules(low), FormatJoules(high));
}

// "61.3 J in 4.00 s, 15.3 W, without GPU:0"
std::string MachineText(const Measurement& measured, std::string_view whose) {
  const TotalEnergy& total = measured.total;
  std::string text = total.missing.empty() ? "" : "at least ";
  text += WithInterval(total.energy, total.low, total.high);
  text += fmt::format("{} in {}, {}", whose, FormatSeconds(measured.duration),
                      FormatWatts(total.mean_power));
  if (!total.missing.empty()) text += fmt::format(", without {}", MissingText(total));
  return text;
}

// In the unit in which it is not tiny: "4.12 mWh".
struct SmallUnit {
  double from;  // in the first unit
  double scale;
  const char* name;
};

template <size_t kCount>
const SmallUnit& UnitFor(const std::array<SmallUnit, kCount>& units, double value) {
  if (value == 0) return units.front();
  for (const SmallUnit& unit : units) {
    if (!(std::fabs(value) < unit.from)) return unit;
  }
  return units.back();
}

constexpr std::array<SmallUnit, 4> kKwh = {
    {{1e-3, 1, "kWh"}, {1e-4, 1e3, "Wh"}, {1e-7, 1e6, "mWh"}, {0, 1e9, "µWh"}}};
constexpr std::array<SmallUnit, 3> kKilograms = {
    {{1e-3, 1, "kg"}, {1e-6, 1e3, "g"}, {0, 1e6, "mg"}}};

std::string PriceText(double price) {
  constexpr double kLeast = 1e-4;
  return price > 0 && price < kLeast ? "under 0.0001" : FigureOrDash(price);
}

std::string CostText(std::string_view whose, const EnergyPrice& price, const Electricity& grid) {
  const double kwh = price.kwh.value_or(kUnknown);
  const double co2e_kg = price.co2e_kg.value_or(kUnknown);
  const SmallUnit& unit = UnitFor(kKwh, kwh);
  std::string energy = FigureOrDash(kwh * unit.scale);
  if (price.kwh_low && price.kwh_high) {
    energy += fmt::format(" ({} to {})", FigureOrDash(*price.kwh_low * unit.scale),
                          FigureOrDash(*price.kwh_high * unit.scale));
  }
  const SmallUnit& mass = UnitFor(kKilograms, co2e_kg);
  return fmt::format("{}: {} {}, {} {}, {} {} CO2e", whose, energy, unit.name,
                     PriceText(price.price.value_or(kUnknown)),
                     grid.currency.empty() ? "price" : Printable(grid.currency),
                     FigureOrDash(co2e_kg * mass.scale), mass.name);
}

bool IsWatched(const Measurement& measured) {
  return !measured.recording.command.empty() || !measured.recording.pids.empty();
}

std::string JoulesText(const std::optional<Joules>& energy) { return JoulesOrDash(energy); }

// "a run of the command: 16.0 J ± 800 mJ (5.0%) ours in 2.00 s ± 100 ms (5.0%), over 5 rounds"
std::string RunText(const RunStatistics& run) {
  std::string text = "a run of the command: ";
  if (run.energy.mean) {
    text += fmt::format("{} {} in ", StatisticsText(run.energy, JoulesText),
                        run.energy_of == EnergyOf::kOurs ? "ours" : "of the machine");
  }
  text += fmt::format("{}, over {} {}", StatisticsText(run.time, FormatSeconds), run.time.rounds,
                      run.time.rounds == 1 ? "round" : "rounds");
  if (!run.energy.mean) return text + "; its energy is unknown";
  if (run.energy.rounds == run.time.rounds) return text;
  return text + fmt::format("; energy is known for {}", run.energy.rounds);
}

}  // namespace

std::string HeadlineOf(const Measurement& measured) {
  const TotalEnergy& total = measured.total;
  if (!total.energy) {
    return fmt::format("no energy is known for {}", FormatSeconds(measured.duration));
  }
  const std::string label = total.origin == Origin::kEstimated ? "an estimate: " : "";
  if (!IsWatched(measured)) return label + MachineText(measured, "");
  const std::string machine = MachineText(measured, " of the machine");
  if (!total.ours) return label + machine + "; which part of it is ours is unknown";
  const std::string ours = WithInterval(total.ours, total.ours_low, total.ours_high);
  if (total.all_split) {
    const bool positive = *total.energy > Joules{};
    return fmt::format("{}{} ours, {} of {}", label, ours,
                       positive ? FormatPercent(*total.ours / *total.energy) : "-", machine);
  }
  return fmt::format("{}{} ours, of the {} that can be divided; {}", label, ours,
                     FormatJoules(total.split), machine);
}

std::vector<std::string> LinesBelow(const Measurement& measured) {
  std::vector<std::string> lines;
  if (measured.run.time.rounds > 0) lines.push_back(RunText(measured.run));
  if (!measured.costs || !measured.total.energy) return lines;
  const MeasuredCosts& costs = *measured.costs;
  if (IsWatched(measured) && costs.ours.kwh) {
    lines.push_back(CostText("ours", costs.ours, costs.electricity));
  }
  lines.push_back(CostText("the machine", costs.machine, costs.electricity));
  return lines;
}

std::string SubjectOf(const Measurement& measured) {
  const Recording& recording = measured.recording;
  if (!recording.command.empty()) {
    return Printable(fmt::format("{}", fmt::join(recording.command, " ")));
  }
  if (!recording.pids.empty()) {
    return fmt::format("process {}", fmt::join(recording.pids, ", "));
  }
  return Printable(RunName(measured.context));
}

std::string SourceText(const DeviceEnergy& device) {
  if (device.origin == Origin::kMeasured) {
    return device.source.empty() ? "-" : Printable(device.source);
  }
  if (!device.high || !(device.energy > Joules{})) return "estimated";
  return fmt::format("estimated, ±{}", FormatPercent(*device.high / *device.energy - 1));
}

std::string Write(const Measurement& measured, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return MeasurementJson(measured).Write();
  if (format == Format::kCsv) return Csv(measured);
  if (format == Format::kSvg) return DrawMeasurement(measured);
  if (format == Format::kSummary) {
    std::string text = HeadlineOf(measured) + "\n";
    for (const std::string& line : LinesBelow(measured)) text += line + "\n";
    text += WriteNotes(measured.notes, options.flag);
    return text;
  }
  return WriteMeasurementTable(measured, options);
}

}  // namespace beryl::views
