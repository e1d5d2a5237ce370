// Timeline: power and activity over a run in equal slices of time, coarse enough to draw.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"

namespace beryl {

struct Timeline {
  struct Channel {
    std::string name;
    // Watts by slice; NaN where power is not known.
    std::vector<double> mean_w;
    std::vector<double> min_w;
    std::vector<double> max_w;
  };
  Nanos start;
  Nanos duration;
  std::vector<Channel> channels;
  std::vector<RunStep> steps;  // on the power trace's clock
  // What ran, by layer: shares of the operation time in each slice, 0 to 1. Empty: not asked for.
  struct Layer {
    std::string name;
    std::vector<double> activity;
  };
  std::vector<Layer> layers;
  // By phase and slice: how much of the operation time in the slice was of that phase, 0 to 1.
  std::array<std::vector<double>, kPhaseCount> activity;
};

}  // namespace beryl
