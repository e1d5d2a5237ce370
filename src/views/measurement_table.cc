#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/measurement.h"
#include "views/text_page.h"

namespace beryl::views {
namespace {

constexpr size_t kProcessesShown = 8;
constexpr size_t kWindowsShown = 12;
constexpr size_t kPlotsShown = 4;

class MeasurementTable : public TextPage {
 public:
  MeasurementTable(const Measurement& measured, const ViewOptions& options)
      : TextPage(options),
        measured_(measured),
        processes_(options.top ? static_cast<size_t>(std::max(0, *options.top)) : kProcessesShown) {
  }

  std::string Write() {
    Head();
    Devices();
    Power();
    Windows();
    Processes();
    Features();
    Overhead();
    for (const std::string& note : measured_.notes) Paragraph("note: " + note, 0, kWarningStyle);
    return Take();
  }

 private:
  static constexpr int kNumber = 10;
  static constexpr int kGutter = 11;
  static constexpr int kRows = 5;

  void Head() {
    const Recording& recording = measured_.recording;
    Line(Bold(Ellipsize(SubjectOf(measured_), static_cast<size_t>(width_))));
    Paragraph(HeadlineOf(measured_));
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
    Paragraph(fmt::format("{}", fmt::join(facts, "; ")), 0, kDimStyle);
    Line();
  }

  int NameWidth() const {
    size_t width = 8;
    for (const DeviceEnergy& device : measured_.devices) {
      width = std::max(width, DisplayWidth(Printable(device.device)) + 2);
    }
    return static_cast<int>(std::min<size_t>(width, 24));
  }

  bool IsWide() const { return width_ >= NameWidth() + 7 * kNumber + 18; }

  void Devices() {
    if (measured_.devices.empty()) return;
    const int name = NameWidth();
    std::string head = Padded("device", name) + RightAligned("energy", kNumber) +
                       RightAligned("power", kNumber) + RightAligned("known for", kNumber) +
                       RightAligned("ours", kNumber);
    if (IsWide()) {
      head += RightAligned("others", kNumber) + RightAligned("recorder", kNumber) +
              RightAligned("idle", kNumber);
    } else {
      head += RightAligned("rest", kNumber);
    }
    Line(Dim(head + "  source"));
    for (const DeviceEnergy& device : measured_.devices) {
      const EnergySplit& split = device.split;
      std::string line =
          Padded(Ellipsize(Printable(device.device), static_cast<size_t>(name - 1)), name) +
          EnergyCell(device.energy) +
          RightAligned(device.mean_power ? FormatWatts(device.mean_power) : "-", kNumber) +
          RightAligned(FormatSeconds(device.known_time), kNumber) + EnergyCell(split.ours);
      line += IsWide()
                  ? EnergyCell(split.others) + EnergyCell(split.recorder) + EnergyCell(split.idle)
                  : EnergyCell(device.rest);
      Line(line + "  " + SourceText(device));
    }
    OtherChannels();
    Line();
  }

  static std::string EnergyCell(const std::optional<Joules>& energy) {
    return RightAligned(JoulesOrDash(energy), kNumber);
  }

  // Channels that are no devices: shown, never added.
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
      Paragraph(fmt::format("also read, not added: {}", fmt::join(texts, "; ")), 0, kDimStyle);
    }
  }

  // Those with the most energy, in the order of the devices.
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
        Plot(*device);
      } else {
        left_out.push_back(device->device);
      }
    }
    const int columns = static_cast<int>(Columns());
    Marks();
    Line(Blanks(kGutter) + Padded("0", columns - 8) +
         RightAligned(FormatSeconds(measured_.duration), 8));
    if (!left_out.empty()) {
      Paragraph(fmt::format("and {} more: {}", left_out.size(), fmt::join(left_out, ", ")), 0,
                kDimStyle);
    }
    Line();
  }

  size_t Columns() const { return static_cast<size_t>(std::max(20, width_ - kGutter)); }

  // Mean power over each column of characters; NaN: not known.
  std::vector<double> Watts(const DeviceEnergy& device) const {
    std::vector<double> watts(Columns(), kUnknown);
    const size_t slices = device.slices_w.size();
    for (size_t column = 0; column < watts.size(); ++column) {
      const size_t from = column * slices / watts.size();
      const size_t to = std::max(from + 1, (column + 1) * slices / watts.size());
      double sum = 0;
      size_t count = 0;
      for (size_t slice = from; slice < to; ++slice) {
        if (std::isnan(device.slices_w[slice])) continue;
        sum += device.slices_w[slice];
        ++count;
      }
      if (count > 0) watts[column] = sum / static_cast<double>(count);
    }
    return watts;
  }

  void Plot(const DeviceEnergy& device) {
    static constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                           "▅", "▆", "▇", "█"};
    const std::vector<double> watts = Watts(device);
    double highest = 0;
    for (const double watt : watts) highest = std::max(highest, std::isnan(watt) ? 0 : watt);
    for (int row = kRows - 1; row >= 0; --row) {
      std::string line = row == kRows - 1 ? RightAligned(FormatWatts(highest), kGutter - 1) + " "
                         : row == 0       ? RightAligned("0 W", kGutter - 1) + " "
                         : row == kRows / 2
                             ? Padded(Ellipsize(Printable(device.device), kGutter - 1), kGutter)
                             : Blanks(kGutter);
      for (const double watt : watts) {
        if (std::isnan(watt)) {
          line += row == 0 ? "?" : " ";
          continue;
        }
        const double height = highest > 0 ? watt / highest * kRows - row : 0;
        const auto eighths = std::clamp(static_cast<int>(std::lround(height * 8)), 0, 8);
        line += kBlocks[static_cast<size_t>(eighths)];
      }
      while (line.ends_with(' ')) line.pop_back();
      Line(line);
    }
    Line();
  }

  void Marks() {
    if (measured_.windows.empty() || !(measured_.duration > Seconds{})) return;
    std::string marks(Columns(), ' ');
    for (const WindowEnergy& window : measured_.windows) {
      const double along = window.start / measured_.duration;
      if (along < 0 || along >= 1) continue;
      marks[static_cast<size_t>(along * static_cast<double>(marks.size()))] = '|';
    }
    while (marks.ends_with(' ')) marks.pop_back();
    Line(Padded("windows", kGutter) + marks);
  }

  void Windows() {
    if (measured_.windows.empty()) return;
    const int name = 24;
    Line(Dim(Padded("window", name) + RightAligned("start", kNumber) +
             RightAligned("length", kNumber) + RightAligned("runs", 8) +
             RightAligned("energy", kNumber) + RightAligned("ours", kNumber)));
    size_t left = kWindowsShown;
    for (const WindowEnergy& window : measured_.windows) {
      if (left-- == 0) {
        Line(Dim(fmt::format("and {} more", measured_.windows.size() - kWindowsShown)));
        break;
      }
      const std::string label =
          window.name + (window.warm_up && window.name != "warm-up" ? " (warm-up)" : "");
      Line(Padded(Ellipsize(Printable(label), static_cast<size_t>(name - 1)), name) +
           RightAligned(FormatSeconds(window.start), kNumber) +
           RightAligned(FormatSeconds(window.duration), kNumber) +
           RightAligned(window.runs > 0 ? FormatCount(window.runs) : "-", 8) +
           EnergyCell(window.energy) + EnergyCell(window.ours));
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
            : fmt::format("; energy is known of {}", measured_.round_energy.rounds);
    Line(fmt::format("{} {}: {} in {}{}", rounds, rounds == 1 ? "round" : "rounds",
                     SpreadText(measured_.round_energy, FormatJoules),
                     SpreadText(measured_.round_time, FormatSeconds), of_some));
  }

  template <typename Quantity>
  static std::string SpreadText(const Spread<Quantity>& spread,
                                std::string (*format)(const std::optional<Quantity>&)) {
    if (!spread.mean) return "-";
    if (!spread.deviation) return format(spread.mean);
    return fmt::format(
        "{} ± {} ({})", format(spread.mean), format(spread.deviation),
        *spread.mean > Quantity{} ? FormatPercent(*spread.deviation / *spread.mean) : "-");
  }

  static std::optional<Joules> EnergyOf(const ProcessEnergy& process) {
    std::optional<Joules> sum;
    for (const double joules : process.energy_j) AddKnown(sum, IfKnown<Joules>(joules));
    return sum;
  }

  void Processes() {
    if (measured_.processes.empty() || processes_ == 0) return;
    const int name = std::clamp(width_ - 3 * kNumber - 22, 12, 40);
    Line(Dim(RightAligned("process", 9) + "  " + Padded("name", name) + RightAligned("threads", 9) +
             RightAligned("CPU time", kNumber) + RightAligned("energy", kNumber)));
    size_t left = processes_;
    for (const ProcessEnergy& process : measured_.processes) {
      if (left-- == 0) {
        Line(Dim(fmt::format("{:>9}  {} more", "and", measured_.processes.size() - processes_)));
        break;
      }
      const std::string label =
          process.name + (process.owner == TaskOwner::kRecorder ? " (the recorder)" : "");
      Line(RightAligned(std::to_string(process.pid), 9) + "  " +
           Padded(Ellipsize(Printable(label), static_cast<size_t>(name - 1)), name) +
           RightAligned(FormatCount(process.threads), 9) +
           RightAligned(FormatSeconds(process.cpu_time), kNumber) + EnergyCell(EnergyOf(process)));
    }
    Line();
  }

  static std::string FeatureText(const FeatureMean& feature) {
    const std::string where = feature.device.empty() ? "" : " " + feature.device;
    if (!feature.mean) return fmt::format("{}{} -", feature.name, where);
    if (feature.unit == "s")
      return fmt::format("{} {}", feature.name, FormatSeconds(*feature.mean));
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
