// From a run file to what it comes to.
#pragma once

#include <string>

#include "account/account.h"
#include "base/result.h"
#include "types/measurement.h"
#include "views/views.h"

namespace beryl::cli {

// Of a recording, or of the power readings of any other run file. What is wrong with the file
// stands in the notes.
Result<Measurement> ReadMeasurement(const std::string& file,
                                    const account::MeasureOptions& options);

}  // namespace beryl::cli
