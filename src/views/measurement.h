// What the views of a measurement have in common.
#pragma once

#include <string>

#include "types/measurement.h"
#include "views/views.h"

namespace beryl::views {

// Over the devices of which each is known.
struct MeasurementTotals {
  double energy_j = kUnknown;
  double low_j = kUnknown;  // where an estimate is among them
  double high_j = kUnknown;
  double mean_w = kUnknown;
  double ours_j = kUnknown;
  double split_j = kUnknown;  // energy of the devices that are told apart
  bool all_split = true;      // of every device it is known what is ours
  bool estimated = false;
};
MeasurementTotals TotalsOf(const Measurement& measured);

// "123 J in 10.0 s, 12.3 W; 98.0 J (80 %) of it ours"
std::string HeadlineOf(const Measurement& measured);
// The command, or the processes that were watched, or the file.
std::string SubjectOf(const Measurement& measured);
// "estimated, ±50 %", "rapl-powercap"
std::string SourceText(const DeviceEnergy& device);
// "12.3 J", "-"
std::string JoulesText(double joules);

std::string WriteMeasurementTable(const Measurement& measured, const ViewOptions& options);
std::string WriteMeasurementJson(const Measurement& measured);
std::string DrawMeasurement(const Measurement& measured);

}  // namespace beryl::views
