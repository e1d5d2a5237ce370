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

// The layer that each kind of operation belongs to.
inline constexpr uint32_t kNoLayer = std::numeric_limits<uint32_t>::max();
struct LayerGroups {
  std::string of;  // their parent, in words
  std::vector<std::string> names;
  std::vector<uint32_t> layer_of_kind;  // index into names, or kNoLayer
};

struct Timeline {
  struct Channel {
    std::string name;
    Origin origin = Origin::kMeasured;
    // Watts by slice; NaN if unknown.
    std::vector<double> mean_w;
    std::vector<double> min_w;
    std::vector<double> max_w;
    // Shares of the operation time on the devices it feeds, by layer and slice. With `other` they
    // add up to 1, or to 0 if nothing ran. Empty: not requested.
    std::vector<std::vector<double>> layers;
    std::vector<double> other;
  };
  Nanos start;
  Nanos duration;
  std::vector<Channel> channels;
  std::vector<RunStep> steps;  // on the power trace's clock
  std::string layers_of;       // parent of the layers, in words
  std::vector<std::string> layers;
  // The number of steps that this is the mean of, aligned at their starts; 0: not a mean.
  size_t averaged = 0;
  // By phase and slice: the phase's share of operation time in the slice, 0 to 1.
  std::array<std::vector<double>, kPhaseCount> activity;
};

}  // namespace beryl
