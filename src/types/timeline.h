// Timeline: power and activity over a run in equal slices of time, coarse enough to draw.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"
#include "types/power_trace.h"

namespace beryl {

// Which layer the runs of each kind of operation belong to.
inline constexpr uint32_t kNoLayer = std::numeric_limits<uint32_t>::max();
struct LayerGroups {
  std::string of;  // what they are parts of, in words
  std::vector<std::string> names;
  std::vector<uint32_t> layer_of_kind;  // index into names, or kNoLayer
};

struct Timeline {
  struct Channel {
    std::string name;
    Origin origin = Origin::kMeasured;
    // Watts by slice; NaN where power is not known.
    std::vector<double> mean_w;
    std::vector<double> min_w;
    std::vector<double> max_w;
    // Of the operation time on the devices it feeds, by layer and slice: shares from 0 to 1 that
    // with `other` add up to 1, or to 0 where nothing ran. Empty: not asked for.
    std::vector<std::vector<double>> layers;
    std::vector<double> other;
  };
  Nanos start;
  Nanos duration;
  std::vector<Channel> channels;
  std::vector<RunStep> steps;  // on the power trace's clock
  std::string layers_of;       // what the layers are parts of, in words
  std::vector<std::string> layers;
  // Of how many steps this is the mean, each counted from its start; 0: it is not a mean.
  size_t averaged = 0;
  // By phase and slice: how much of the operation time in the slice was of that phase, 0 to 1.
  std::array<std::vector<double>, kPhaseCount> activity;
};

}  // namespace beryl
