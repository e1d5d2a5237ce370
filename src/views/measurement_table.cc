#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/budget.h"
#include "views/energy_use.h"
#include "views/measurement.h"
#include "views/text/text_page.h"

namespace beryl::views {
namespace {

constexpr int kProcessesShown = 8;
constexpr size_t kWindowsShown = 12;
constexpr size_t kPlotsShown = 4;
constexpr int kRows = 5;  // of a plot

class MeasurementTable : public TextPage {
 public:
  MeasurementTable(const Measurement& measured, const ViewOptions& options)
      : TextPage(options),
        measured_(measured),
        processes_(static_cast<size_t>(std::max(0, options.top.value_or(kProcessesShown)))) {}

  std::string Write() {
    Head();
    Devices();
    Power();
    Windows();
    Processes();
    Features();
    Overhead();
    const std::string above = Take() + BudgetTable(measured_.budget, options_);
    Notes(measured_.notes);
    if (measured_.costs) Paragraph(ElectricityText(measured_.costs->electricity));
    Foot("", measured_.provenance);
    return above + Take();
  }

 private:
  static constexpr int kNumber = 10;

  void Head() {
    Incomplete(measured_.provenance);
    const Recording& recording = measured_.recording;
    Line(Bold(Ellipsize(SubjectOf(measured_), static_cast<size_t>(width_))));
    Paragraph(HeadlineOf(measured_));
    for (const std::string& line : LinesBelow(measured_)) Paragraph(line);
    std::vector<std::string> facts;
    if (recording.start.value != 0) facts.push_back(FormatTime(recording.start));
    if (!recording.machine.empty()) facts.push_back(recording.machine);
    if (recording.period.value > 0) {
      facts.push_back(fmt::format("read every {}", FormatSeconds(recording.period.seconds())));
    }
    if (!recording.activity.cpu_time.empty()) {
      facts.push_back(fmt::format("CPU time by {}", recording.activity.cpu_time));
    }
    if (recording.exit_code >= 0) facts.push_back(fmt::format("exit code {}", recording.exit_code));
    SmallPrint(fmt::format("{}", fmt::join(facts, "; ")));
    Line();
  }

  int NameWidth() const {
    const auto name = [](const DeviceEnergy& device) { return device.device; };
    return std::min(Widest(measured_.devices, 6, name) + 2, 24);
  }

  void Devices() {
    if (measured_.devices.empty()) return;
    const int name = NameWidth();
    const bool wide = width_ >= name + 7 * kNumber + 18;
    const int parts = wide ? kNumber : 0;
    const std::vector<int> widths = {-name, kNumber, kNumber, kNumber,        kNumber,
                                     parts, parts,   parts,   kNumber - parts};
    Line(Dim(Cells(widths, {"device", "energy", "power", "known for", "ours", "others", "recorder",
                            "idle", "rest"}) +
             "  source"));
    for (const DeviceEnergy& device : measured_.devices) {
      const EnergySplit& split = device.split;
      Line(Cells(widths, {NameCell(device.device, name), JoulesOrDash(device.energy),
                          OrDash(device.mean_power, FormatWatts), FormatSeconds(device.known_time),
                          JoulesOrDash(split.ours), JoulesOrDash(split.others),
                          JoulesOrDash(split.recorder), JoulesOrDash(split.idle),
                          JoulesOrDash(device.rest)}) +
           "  " + SourceText(device));
    }
    OtherChannels();
    Line();
  }

  // Channels that are not devices: shown, never added.
  void OtherChannels() {
    std::vector<std::string> texts;
    for (const ChannelEnergy& channel : measured_.channels) {
      const bool device =
          std::any_of(measured_.devices.begin(), measured_.devices.end(),
                      [&](const DeviceEnergy& known) { return known.device == channel.name; });
      const std::vector<std::string>& whole = measured_.whole.channels;
      if (device || std::find(whole.begin(), whole.end(), channel.name) != whole.end()) continue;
      std::string text = fmt::format("{} {}", channel.name, JoulesOrDash(channel.energy));
      if (!channel.within.empty()) text += fmt::format(" (in {})", channel.within);
      if (channel.meter.origin == Origin::kEstimated) text += " (estimated)";
      texts.push_back(std::move(text));
    }
    const WholeMachine& whole = measured_.whole;
    if (!whole.channels.empty() && whole.devices) {
      texts.push_back(fmt::format(
          "{} {}{}", fmt::join(whole.channels, " + "), FormatJoules(whole.energy),
          whole.rest ? fmt::format(", {} more than its devices", FormatJoules(whole.rest)) : ""));
    }
    if (!texts.empty()) {
      SmallPrint(fmt::format("also read, not added: {}", fmt::join(texts, "; ")));
    }
  }

  // The devices with the most energy, in the order of the devices.
  void Power() {
    std::vector<const DeviceEnergy*> plots;
    for (const DeviceEnergy& device : measured_.devices) {
      if (device.energy && !device.slices_w.empty()) plots.push_back(&device);
    }
    if (plots.empty()) return;
    std::vector<const DeviceEnergy*> by_energy = plots;
    std::stable_sort(by_energy.begin(), by_energy.end(),
                     [](const auto* a, const auto* b) { return a->energy > b->energy; });
    by_energy.resize(std::min(by_energy.size(), kPlotsShown));
    std::vector<std::string> left_out;
    for (const DeviceEnergy* device : plots) {
      if (std::find(by_energy.begin(), by_energy.end(), device) != by_energy.end()) {
        PowerPlot(device->device, device->slices_w, kRows, Columns(), "?");
        Line();
      } else {
        left_out.push_back(device->device);
      }
    }
    WindowStarts();
    TimeAxis(measured_.duration.value, Columns());
    if (!left_out.empty()) {
      SmallPrint(fmt::format("and {} more: {}", left_out.size(), fmt::join(left_out, ", ")));
    }
    Line();
  }

  size_t Columns() const { return static_cast<size_t>(std::max(20, width_ - kGutter)); }

  void WindowStarts() {
    if (measured_.windows.empty() || !(measured_.duration > Seconds{})) return;
    std::vector<double> starts;
    for (const WindowEnergy& window : measured_.windows) {
      starts.push_back(window.start / measured_.duration);
    }
    Marks("windows", starts, Columns());
  }

  void Windows() {
    if (measured_.windows.empty()) return;
    const int name = 24;
    const std::vector<int> widths = {-name, kNumber, kNumber, 8, kNumber, kNumber};
    Line(Dim(Cells(widths, {"window", "start", "length", "runs", "energy", "ours"})));
    size_t left = kWindowsShown;
    for (const WindowEnergy& window : measured_.windows) {
      if (left-- == 0) {
        Line(Dim(fmt::format("and {} more", measured_.windows.size() - kWindowsShown)));
        break;
      }
      const std::string label =
          window.name + (window.warm_up && window.name != "warm-up" ? " (warm-up)" : "");
      Line(Cells(widths,
                 {NameCell(label, name), FormatSeconds(window.start),
                  FormatSeconds(window.duration), window.runs > 0 ? FormatCount(window.runs) : "-",
                  JoulesOrDash(window.energy), JoulesOrDash(window.ours)}));
    }
    Rounds();
    Line();
  }

  void Rounds() {
    const uint64_t rounds = measured_.round_time.rounds;
    if (rounds == 0) return;
    const std::string of_some =
        measured_.round_energy.rounds == rounds
            ? ""
            : fmt::format("; energy is known for {}", measured_.round_energy.rounds);
    Line(fmt::format("{} {} of the machine: {} in {}{}", rounds, rounds == 1 ? "round" : "rounds",
                     StatisticsText(measured_.round_energy, JoulesOrDash),
                     StatisticsText(measured_.round_time, FormatSeconds), of_some));
  }

  static std::optional<Joules> EnergyOf(const ProcessEnergy& process) {
    std::optional<Joules> sum;
    for (const double joules : process.energy_j) AddKnown(sum, IfKnown<Joules>(joules));
    return sum;
  }

  void Processes() {
    if (measured_.processes.empty() || processes_ == 0) return;
    const int name = std::clamp(width_ - 3 * kNumber - 22, 12, 40);
    const std::vector<int> widths = {9, 2, -name, 9, kNumber, kNumber};
    Line(Dim(Cells(widths, {"process", "", "name", "threads", "CPU time", "energy"})));
    size_t left = processes_;
    for (const ProcessEnergy& process : measured_.processes) {
      if (left-- == 0) {
        Line(Dim(fmt::format("{:>9}  {} more", "and", measured_.processes.size() - processes_)));
        break;
      }
      const std::string label =
          process.name + (process.owner == TaskOwner::kRecorder ? " (the recorder)" : "");
      Line(Cells(widths, {std::to_string(process.pid), "", NameCell(label, name),
                          FormatCount(process.threads), FormatSeconds(process.cpu_time),
                          JoulesOrDash(EnergyOf(process))}));
    }
    Line();
  }

  static std::string FeatureText(const FeatureMean& feature) {
    const std::string where = feature.device.empty() ? "" : " " + feature.device;
    if (!feature.mean) return fmt::format("{}{} -", feature.name, where);
    if (feature.unit == "s") {
      return fmt::format("{} {}", feature.name, FormatSeconds(*feature.mean));
    }
    if (feature.unit == "J") return fmt::format("{} {}", feature.name, FormatJoules(*feature.mean));
    return fmt::format("{}{} {:.4g} {}", feature.name, where, *feature.mean, feature.unit);
  }

  void Features() {
    std::vector<std::string> texts;
    texts.reserve(measured_.features.size());
    for (const FeatureMean& feature : measured_.features) texts.push_back(FeatureText(feature));
    if (!texts.empty()) Paragraph(fmt::format("features: {}", fmt::join(texts, ", ")));
  }

  void Overhead() {
    const SamplerCost& cost = measured_.recording.cost;
    if (!measured_.overhead_cpu_pct) return;
    std::string text =
        fmt::format("recording cost {:.2f} % of a core", *measured_.overhead_cpu_pct);
    if (measured_.overhead) {
      text += fmt::format(" and {}", FormatJoules(measured_.overhead));
    }
    if (cost.resident_bytes > 0) text += fmt::format(", {}", FormatBytes(cost.resident_bytes));
    if (cost.ticks > 0) {
      text += fmt::format("; {} ticks, {} late", FormatCount(cost.ticks), FormatCount(cost.late));
      if (cost.late_p99_us) {
        text += fmt::format(" (99 % within {})", FormatSeconds(*cost.late_p99_us * 1e-6));
      }
      text += fmt::format("; {} more missed", FormatCount(cost.missed));
      if (cost.lost > 0) text += fmt::format("; {} samples were lost", FormatCount(cost.lost));
    }
    Paragraph(text);
  }

  const Measurement& measured_;
  size_t processes_;
};

}  // namespace

std::string WriteMeasurementTable(const Measurement& measured, const ViewOptions& options) {
  return MeasurementTable(measured, options).Write();
}

}  // namespace beryl::views
