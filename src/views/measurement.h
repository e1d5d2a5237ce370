// Shared by the views of a measurement.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "types/measurement.h"
#include "views/text/figures.h"
#include "views/views.h"

namespace beryl::views {

// Ours first: "98.0 J ours, 80 % of 123 J of the machine in 10.0 s, 12.3 W"; "at least 123 J" if
// something is missing.
std::string HeadlineOf(const Measurement& measured);
// What follows it, a line each: a run of the command, and what the energy costs.
std::vector<std::string> LinesBelow(const Measurement& measured);
// "12.3 J ± 0.4 J (3 %)"; "-": unknown.
template <typename Quantity>
std::string StatisticsText(const RoundStatistics<Quantity>& statistics,
                           std::string (*format)(const std::optional<Quantity>&)) {
  if (!statistics.mean) return "-";
  if (!statistics.deviation) return format(statistics.mean);
  const double share =
      *statistics.mean > Quantity{} ? *statistics.deviation / *statistics.mean : kUnknown;
  return fmt::format("{} ± {} ({})", format(statistics.mean), format(statistics.deviation),
                     PercentOrDash(share));
}
// The command, the watched processes, or the file.
std::string SubjectOf(const Measurement& measured);
// "estimated, ±50 %", "rapl-powercap"
std::string SourceText(const DeviceEnergy& device);

std::string WriteMeasurementTable(const Measurement& measured, const ViewOptions& options);
std::string DrawMeasurement(const Measurement& measured);

}  // namespace beryl::views
