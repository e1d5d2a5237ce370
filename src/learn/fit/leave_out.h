// Predicts models, families or sizes from data without them, with intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/fit/fit.h"
#include "types/evaluation.h"

namespace beryl::learn {

// The predictions made with one seed.
struct Outcome {
  std::vector<double> predicted;                   // by node
  std::vector<std::optional<Interval>> intervals;  // by node; nothing: none could be calibrated
  std::vector<std::string> laws;                   // by fold, of the method law
};

// The runs that are left out together.
struct Folds {
  std::vector<std::string> names;
  std::vector<size_t> of_run;  // index into names
};

// The fits that Train does on data of so many models; and Train for a caller that has told the
// watch to expect them.
uint64_t FitsToTrain(size_t models, const TrainOptions& options);
Result<EnergyModel> TrainExpected(const Dataset& data, const TrainOptions& options);

// Predicts each model from the others. Its intervals are calibrated on the errors of the others.
Result<Outcome> LeaveModelsOut(const Measurements& all, const std::vector<Feature>& known,
                               const TrainOptions& options);

// Fails if the family or the size of a run is unknown, or if there is only one.
Result<Folds> FoldsOf(const Dataset& data, FoldBy by);

// Trains on the other folds as for a profile, with its intervals, and predicts the fold. `all`:
// what Gather makes of the data.
Result<Outcome> LeaveFoldsOut(const Dataset& data, const Measurements& all, const Folds& folds,
                              const TrainOptions& options);

// Trains on `data` as for a profile, and predicts `test`.
Result<Outcome> TrainAndTest(const Dataset& data, const Measurements& test,
                             const TrainOptions& options);

}  // namespace beryl::learn
