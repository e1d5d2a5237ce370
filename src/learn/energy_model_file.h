// The file of an EnergyModel: what writing and reading share. docs/energy-model-file.md has its
// members.
#pragma once

#include <cstddef>
#include <string_view>

#include "types/energy_model.h"

namespace beryl::learn {

inline constexpr std::string_view kEnergyModelSchema = "beryl.energy-model/1";
inline constexpr size_t kLargestEnergyModel = size_t{64} << 20;

// Which parts a method has.
inline bool HasPrimitives(Method method) { return method == Method::kSum || IsSeeded(method); }
inline bool HasChildWeights(Method method) { return IsSeeded(method); }

inline std::string_view DataLevelName(size_t level) { return LevelName(kDataLevels[level]); }

// How many products of up to three of so many features there are: C(n + 3, 3).
inline constexpr size_t CubicTerms(size_t features) {
  return (features + 1) * (features + 2) * (features + 3) / 6;
}

}  // namespace beryl::learn
