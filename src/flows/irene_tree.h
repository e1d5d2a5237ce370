// A prediction as IrEne published its trees, for programs that were built on IrEne-viz.
#pragma once

#include <string>

#include "types/described_prediction.h"

namespace beryl::flows {

// {model_name, batch_size, seq_len, frontend_tree}, in one line: the modules and ML primitives with
// parameters, FLOPs, bytes, seconds and predicted energy.
std::string WriteIreneTree(const DescribedPrediction& prediction);

}  // namespace beryl::flows
