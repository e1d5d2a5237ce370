// Predicts from a datasheet: the time of each math operation at the manufacturer's rates, reduced
// by typical losses, and the power of the device during it. Not validated against a meter.
#pragma once

#include "types/datasheet.h"
#include "types/described_prediction.h"
#include "types/description.h"

namespace beryl::learn {

// Operations a second in matrix products of this type. Without a figure in the datasheet, int8 and
// int4 run at the rate of float16, and float16 and bfloat16 at the rate of float32.
double MatmulRate(const Datasheet& sheet, Dtype dtype);

// Fills energy, seconds, machine, nominal, calibrated and notes. Energy is that of the devices
// alone, summed over all GPUs; seconds are wall time. Only math operations have a cost of their
// own; every other node is the sum of its children. Precondition: FaultOf(sheet) is empty.
void PredictByDatasheet(const Datasheet& sheet, const Description& description,
                        DescribedPrediction& out);

}  // namespace beryl::learn
