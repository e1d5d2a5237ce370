// What the views of a measurement have in common.
#pragma once

#include <string>

#include "types/measurement.h"
#include "views/figures.h"
#include "views/views.h"

namespace beryl::views {

// "123 J in 10.0 s, 12.3 W; 98.0 J (80 %) of it ours"; "at least 123 J" if something is missing.
std::string HeadlineOf(const Measurement& measured);
// The command, or the processes that were watched, or the file.
std::string SubjectOf(const Measurement& measured);
// "estimated, ±50 %", "rapl-powercap"
std::string SourceText(const DeviceEnergy& device);

std::string WriteMeasurementTable(const Measurement& measured, const ViewOptions& options);
std::string WriteMeasurementJson(const Measurement& measured);
std::string DrawMeasurement(const Measurement& measured);

}  // namespace beryl::views
