// Which features a node of a data set has to have.
#pragma once

#include <array>

#include "types/dataset.h"

namespace beryl::learn {

inline constexpr std::array<Feature, 7> kAlwaysNeeded = {
    Feature::kBatchSize, Feature::kSeqLen, Feature::kFlops,  Feature::kMemBytes,
    Feature::kCpu,       Feature::kMem,    Feature::kSeconds};
// All of these, or Feature::kCpuEnergy of a machine without GPU.
inline constexpr std::array<Feature, 5> kNeededOfGpu = {Feature::kGpu, Feature::kGpuMem,
                                                        Feature::kGpuClock, Feature::kGpuMemClock,
                                                        Feature::kGpuEnergy};

}  // namespace beryl::learn
