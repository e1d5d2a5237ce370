// Measures how accurate predictions are.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "learn/train.h"
#include "types/dataset.h"
#include "types/evaluation.h"
#include "types/prediction.h"

namespace beryl::learn {

// Leaves out one model at a time, or whatever `fold_by` says. With `test`, trains on `data` and
// tests on the models of `test`.
Result<Evaluation> Evaluate(const Dataset& data, const Dataset* test, const TrainOptions& options,
                            uint64_t seeds, FoldBy fold_by = FoldBy::kModel);

// Evaluates every method with every set of features that it can use, leaving out one model at a
// time. `options` has the remaining settings.
Result<Ablation> Ablate(const Dataset& data, const TrainOptions& options, uint64_t seeds);

// Fits the law to `rows` random ML-level rows and tests it on all other rows, `draws` times.
Result<Calibration> Calibrate(const Dataset& data, uint64_t rows, uint64_t seed, uint64_t draws);

}  // namespace beryl::learn
