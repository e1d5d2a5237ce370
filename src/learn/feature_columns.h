// The header of a feature CSV: which columns there are, and which there have to be.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/csv.h"
#include "base/result.h"
#include "learn/learn.h"

namespace beryl::learn {

// Where in a row what stands.
struct FeatureColumns {
  size_t count = 0;
  size_t model = kNoCsvColumn;
  size_t level_name = kNoCsvColumn;
  size_t level = kNoCsvColumn;
  size_t energy = kNoCsvColumn;
  std::array<size_t, kFeatureCount> features;
  std::array<bool, kFeatureCount> needed = {};

  size_t& Of(Feature feature) { return features[static_cast<size_t>(feature)]; }
  void Need(Feature feature) { needed[static_cast<size_t>(feature)] = true; }
};

// `place` ("file:1") is where the header stands, for the Error about a column that is missing.
Result<FeatureColumns> FindFeatureColumns(const CsvFields& header, const std::string& place,
                                          const DatasetOptions& options);

}  // namespace beryl::learn
