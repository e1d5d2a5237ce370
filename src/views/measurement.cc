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
    double gap_s = 0;
    for (const MeterGap& gap : device.gaps) gap_s += gap.seconds;
    csv.Row(device.device, device.energy_j, device.low_j, device.high_j, device.mean_w,
            device.seconds, device.split.ours_j, device.split.others_j, device.split.recorder_j,
            device.split.idle_j, device.rest_j, OriginName(device.origin), device.source, gap_s);
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
  if (std::isnan(total.energy_j)) {
    return fmt::format("no energy is known of {}", FormatSeconds(measured.seconds));
  }
  std::string text = total.origin == Origin::kEstimated ? "an estimate: " : "";
  if (!total.missing.empty()) text += "at least ";
  text += FormatJoules(total.energy_j);
  if (total.origin == Origin::kEstimated) {
    text += fmt::format(" ({} to {})", FormatJoules(total.low_j), FormatJoules(total.high_j));
  }
  text += fmt::format(" in {}, {}", FormatSeconds(measured.seconds), FormatWatts(total.mean_w));
  if (!total.missing.empty()) text += fmt::format(", without {}", MissingText(total));
  const bool watched = !measured.recording.command.empty() || !measured.recording.pids.empty();
  if (std::isnan(total.ours_j) || !watched) return text;
  const std::string ours = FormatJoules(total.ours_j);
  if (total.all_split) {
    return text +
           fmt::format("; {} ({}) of it ours", ours,
                       total.energy_j > 0 ? FormatPercent(total.ours_j / total.energy_j) : "-");
  }
  return text + fmt::format("; {} of the {} that are told apart are ours", ours,
                            FormatJoules(total.split_j));
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
  if (std::isnan(device.high_j) || !(device.energy_j > 0)) return "estimated";
  return fmt::format("estimated, ±{}", FormatPercent(device.high_j / device.energy_j - 1));
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
