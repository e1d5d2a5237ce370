// TimeWindow: the part of a run that a result is about.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "base/units.h"

namespace beryl {

struct TimeWindow {
  // [from, to) on the clock of the power trace.
  Nanos from;
  Nanos to;
  Nanos run_start;         // what seconds of the run count from
  std::string steps = {};  // "2" or "2-5" if it was chosen by steps; otherwise empty
};

// "2.50 s to 4.00 s of the run", "steps 2-5, 2.50 s to 4.00 s of the run"
std::string WindowText(const TimeWindow& window);
// Writes the member "window" of a JSON object.
void WriteWindow(JsonWriter& json, const TimeWindow& window);

}  // namespace beryl
