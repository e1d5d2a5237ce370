// What a recording comes to, in words and as CSV.
#include "views/measurement.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/svg_parts.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

void AddKnown(double& sum, double value) {
  if (!std::isnan(value)) sum = std::isnan(sum) ? value : sum + value;
}

std::string Csv(const Measurement& measured) {
  auto number = [](double value) {
    return CsvNumber(std::isfinite(value) ? std::optional(value) : std::nullopt);
  };
  std::string text =
      "device,energy_j,low_j,high_j,mean_w,seconds,ours_j,others_j,recorder_j,idle_j,rest_j,"
      "origin,source,gap_s,schema\n";
  for (const DeviceEnergy& device : measured.devices) {
    double gap_s = 0;
    for (const MeterGap& gap : device.gaps) gap_s += gap.seconds;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},beryl.measurement/1\n",
                        CsvText(device.device), number(device.energy_j), number(device.low_j),
                        number(device.high_j), number(device.mean_w), number(device.seconds),
                        number(device.split.ours_j), number(device.split.others_j),
                        number(device.split.recorder_j), number(device.split.idle_j),
                        number(device.energy_j - device.split.ours_j), OriginName(device.origin),
                        CsvText(device.source), number(gap_s));
  }
  return text;
}

}  // namespace

MeasurementTotals TotalsOf(const Measurement& measured) {
  MeasurementTotals totals;
  double low = kUnknown;
  double high = kUnknown;
  for (const DeviceEnergy& device : measured.devices) {
    if (std::isnan(device.energy_j)) continue;
    AddKnown(totals.energy_j, device.energy_j);
    AddKnown(totals.mean_w, device.mean_w);
    AddKnown(low, std::isnan(device.low_j) ? device.energy_j : device.low_j);
    AddKnown(high, std::isnan(device.high_j) ? device.energy_j : device.high_j);
    totals.estimated = totals.estimated || device.origin == Origin::kEstimated;
    if (std::isnan(device.split.ours_j)) {
      totals.all_split = false;
      continue;
    }
    AddKnown(totals.ours_j, device.split.ours_j);
    AddKnown(totals.split_j, device.energy_j);
  }
  if (totals.estimated) {
    totals.low_j = low;
    totals.high_j = high;
  }
  return totals;
}

std::string JoulesText(double joules) { return std::isnan(joules) ? "-" : FormatJoules(joules); }

std::string HeadlineOf(const Measurement& measured) {
  const MeasurementTotals totals = TotalsOf(measured);
  if (std::isnan(totals.energy_j)) {
    return fmt::format("no energy is known of {}", FormatSeconds(measured.seconds));
  }
  std::string text =
      totals.estimated
          ? fmt::format("an estimate: {} ({} to {}) in {}, {}", FormatJoules(totals.energy_j),
                        FormatJoules(totals.low_j), FormatJoules(totals.high_j),
                        FormatSeconds(measured.seconds), FormatWatts(totals.mean_w))
          : fmt::format("{} in {}, {}", FormatJoules(totals.energy_j),
                        FormatSeconds(measured.seconds), FormatWatts(totals.mean_w));
  if (std::isnan(totals.ours_j)) return text;
  const std::string ours = FormatJoules(totals.ours_j);
  if (totals.all_split) {
    return text + fmt::format("; {} ({}) of it ours", ours,
                              FormatPercent(totals.ours_j / totals.energy_j));
  }
  return text + fmt::format("; {} of the {} that are told apart are ours", ours,
                            FormatJoules(totals.split_j));
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
    for (const std::string& note : measured.notes) text += "note: " + Printable(note) + "\n";
    return text;
  }
  return WriteMeasurementTable(measured, options);
}

}  // namespace beryl::views
