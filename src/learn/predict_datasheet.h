// Prediction from a datasheet: how long each math operation takes at what the makers say, less what
// is usually lost, and what the device draws meanwhile. Nobody has held it against a meter.
#pragma once

#include "base/units.h"
#include "types/datasheet.h"
#include "types/described_prediction.h"
#include "types/description.h"

namespace beryl::learn {

// What is assumed of every device of a kind, because no datasheet says it. docs/datasheets.md says
// where each number comes from and how far off it was where that could be checked.
struct DatasheetPriors {
  Seconds launch;        // to start an operation, on top of what it does
  Seconds send;          // the same of one that all GPUs take part in
  double matmul;         // share of the peak that large matrix products reach
  Seconds ramp;          // they reach half of that at what the peak does in this time
  double vector;         // share of the peak that everything else reaches
  double bandwidth;      // share of the memory's bandwidth
  double link;           // share of the link's
  double host_link;      // bytes a second each way, where the datasheet has no link
  double awake;          // share of (board - idle) power as soon as something runs,
  double compute_power;  // on top of it while its units compute,
  double memory_power;   // while memory is busy,
  double link_power;     // and while links are
  double factor;         // of the whole: nine times in ten within this factor of the prediction
  double launch_factor;  // added to it as far as time goes into starting operations
};
const DatasheetPriors& PriorsOf(const Datasheet& sheet);

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
