// Prediction from a datasheet: how long each math operation takes at what the makers say, less what
// is usually lost, and what the device draws meanwhile. Nobody has held it against a meter.
#pragma once

#include "base/units.h"
#include "types/datasheet.h"
#include "types/described_prediction.h"
#include "types/description.h"

namespace beryl::learn {

// Operations a second of matrix products of this type: where the datasheet says nothing, int8 and
// int4 go at the rate of float16, and float16 and bfloat16 at that of float32.
double MatmulRate(const Datasheet& sheet, Dtype dtype);

// Fills energy, seconds, machine, nominal, calibrated and notes; energy is of the devices alone,
// over all GPUs, seconds are those that pass. What a node takes is what its children take: only
// math operations take something themselves.
// Precondition: FaultOf(sheet) is empty.
void PredictByDatasheet(const Datasheet& sheet, const Description& description,
                        DescribedPrediction& out);

}  // namespace beryl::learn
