// The header of a feature CSV: which columns it has, and which are required.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/csv.h"
#include "base/result.h"
#include "datasets/datasets.h"

namespace beryl::datasets {

// The position of each column in a row.
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

// `place` ("file:1") is the position of the header, for the error about a missing column.
Result<FeatureColumns> FindFeatureColumns(const CsvFields& header, const std::string& place,
                                          const DatasetOptions& options);

}  // namespace beryl::datasets
