// Trains a model of a machine's energy from runs with measured energy.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/work_watch.h"
#include "types/dataset.h"
#include "types/energy_model.h"

namespace beryl::learn {

struct TrainOptions {
  Method method = Method::kLaw;
  FeatureSet features = FeatureSet::kAll;
  uint64_t seed = 0;
  int epochs = 8;
  double pue = 1.58;  // for the baseline: power usage effectiveness, the value of Strubell et al.
  double nominal = 0.9;
  std::optional<int> threads = {};  // nothing or 0: one per core
  bool bands = true;                // calibrate intervals by leaving out one model at a time
  bool seconds = false;             // method describe: also learn the time of nodes
  WorkWatch* watch = nullptr;       // a piece of work is a fit; nobody need watch
};
// Fails if the data lacks what the method needs.
Result<EnergyModel> Train(const Dataset& data, const TrainOptions& options);

}  // namespace beryl::learn
