// Evaluates the readings of a run file.
#pragma once

#include <string>

#include "account/account.h"
#include "base/result.h"
#include "flows/electricity.h"
#include "flows/read_run.h"
#include "flows/window_request.h"
#include "types/measurement.h"

namespace beryl::flows {

// The result of a run's readings. The caller adds notes and provenance.
Measurement MeasureRun(const RunInput& run, const account::MeasureOptions& options);
// The same of a run that was read from `file`, with provenance. Notes list what is wrong with the
// file, and the provenance which of it leaves the input incomplete.
Measurement MeasureRunFile(const RunInput& run, const std::string& file,
                           const account::MeasureOptions& options);

struct MeasureRequest {
  account::MeasureOptions options = {};
  WindowRequest window = {};
  ElectricityRequest electricity = {};
};
// The same of a part of the run, and says what the energy costs. Fails if there are no power
// readings.
Result<Measurement> MeasureAndCost(const RunInput& run, const std::string& file,
                                   const MeasureRequest& request);

// Reads a recording, or any other run file with power readings, and does that.
Result<Measurement> ReadMeasurement(const std::string& file, const MeasureRequest& request);

}  // namespace beryl::flows
