// What a recording comes to, in words and as CSV.
#include "views/measurement.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/csv_table.h"
#include "views/notes.h"
#include "views/svg_parts.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

std::string Csv(const Measurement& measured) {
  CsvTable csv("beryl.measurement/2", measured.provenance,
               "device,energy_j,low_j,high_j,mean_w,seconds,ours_j,others_j,recorder_j,idle_j,"
               "rest_j,origin,source,gap_s");
  for (const DeviceEnergy& device : measured.devices) {
    Seconds silent;
    for (const MeterGap& gap : device.gaps) silent += gap.duration;
    csv.Row(device.device, device.energy, device.low, device.high, device.mean_power,
            device.known_time, device.split.ours, device.split.others, device.split.recorder,
            device.split.idle, device.rest, OriginName(device.origin), device.source, silent);
  }
  return csv.Take();
}

// The first few of what is missing.
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

}  // namespace

std::string HeadlineOf(const Measurement& measured) {
  const TotalEnergy& total = measured.total;
  if (!total.energy) {
    return fmt::format("no energy is known of {}", FormatSeconds(measured.duration));
  }
  std::string text = total.origin == Origin::kEstimated ? "an estimate: " : "";
  if (!total.missing.empty()) text += "at least ";
  text += FormatJoules(total.energy);
  if (total.origin == Origin::kEstimated) {
    text += fmt::format(" ({} to {})", FormatJoules(total.low), FormatJoules(total.high));
  }
  text +=
      fmt::format(" in {}, {}", FormatSeconds(measured.duration), FormatWatts(total.mean_power));
  if (!total.missing.empty()) text += fmt::format(", without {}", MissingText(total));
  const bool watched = !measured.recording.command.empty() || !measured.recording.pids.empty();
  if (!total.ours || !watched) return text;
  const std::string ours = FormatJoules(total.ours);
  if (total.all_split) {
    return text +
           fmt::format("; {} ({}) of it ours", ours,
                       total.energy > Joules{} ? FormatPercent(*total.ours / *total.energy) : "-");
  }
  return text + fmt::format("; {} of the {} that are told apart are ours", ours,
                            FormatJoules(total.split));
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
  if (format == Format::kJson) return WriteMeasurementJson(measured);
  if (format == Format::kCsv) return Csv(measured);
  if (format == Format::kSvg) return DrawMeasurement(measured);
  if (format == Format::kSummary) {
    std::string text = HeadlineOf(measured) + "\n";
    text += WriteNotes(measured.notes);
    return text;
  }
  return WriteMeasurementTable(measured, options);
}

}  // namespace beryl::views
