// The header of a feature CSV: which columns there are, and which there have to be.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "learn/csv_fields.h"
#include "learn/learn.h"

namespace beryl::learn {

inline constexpr size_t kNoColumn = ~size_t{0};

// Where in a row what stands.
struct FeatureColumns {
  size_t count = 0;
  size_t model = kNoColumn;
  size_t level_name = kNoColumn;
  size_t level = kNoColumn;
  size_t energy = kNoColumn;
  std::array<size_t, kFeatureCount> features;
  std::array<bool, kFeatureCount> needed = {};

  size_t& Of(Feature feature) { return features[static_cast<size_t>(feature)]; }
  void Need(Feature feature) { needed[static_cast<size_t>(feature)] = true; }
};

// `place` ("file:1") is where the header stands, for the Error about a column that is missing.
Result<FeatureColumns> FindFeatureColumns(const Fields& header, const std::string& place,
                                          const DatasetOptions& options);

}  // namespace beryl::learn
