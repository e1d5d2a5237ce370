#include "datasets/feature_columns.h"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "datasets/scope_tree.h"

namespace beryl::datasets {
namespace {

Error NoColumn(const std::string& place, std::string_view column, const CsvFields& header,
               std::string_view hint = {}) {
  std::vector<std::string> names;
  for (const std::string_view name : header) names.push_back(Printable(name.substr(0, 40)));
  return InvalidError(fmt::format("{}: no column '{}'; the header has {}{}; see docs/data-sets.md",
                                  place, column,
                                  Ellipsize(fmt::format("{}", fmt::join(names, ", ")), 400), hint));
}

// A machine has either a GPU with all its columns, or the energy counter of its CPU.
std::optional<std::string_view> MissingOfMachine(FeatureColumns& columns) {
  const Feature* absent = nullptr;
  for (const Feature& feature : kNeededOfGpu) {
    if (absent == nullptr && columns.Of(feature) == kNoCsvColumn) absent = &feature;
  }
  if (absent == nullptr) {
    for (const Feature feature : kNeededOfGpu) columns.Need(feature);
    return std::nullopt;
  }
  if (columns.Of(Feature::kCpuEnergy) != kNoCsvColumn) {
    columns.Need(Feature::kCpuEnergy);
    return std::nullopt;
  }
  return LookOf(*absent).column;
}

}  // namespace

Result<FeatureColumns> FindFeatureColumns(const CsvFields& header, const std::string& place,
                                          const DatasetOptions& options) {
  FeatureColumns columns;
  columns.count = header.size();
  const auto find = [&](std::string_view name) { return FindCsvColumn(header, name); };
  columns.model = find("model_name");
  columns.level_name = find("level_name");
  columns.level = find("level");
  columns.energy = find("energy_mean");
  for (size_t i = 0; i < kFeatureCount; ++i) {
    columns.features[i] = find(LookOf(static_cast<Feature>(i)).column);
  }
  columns.Of(Feature::kInputSize) = kNoCsvColumn;  // computed
  if (columns.model == kNoCsvColumn) return NoColumn(place, "model_name", header);
  if (columns.level_name == kNoCsvColumn) return NoColumn(place, "level_name", header);
  for (const Feature feature : kAlwaysNeeded) {
    columns.Need(feature);
    if (columns.Of(feature) == kNoCsvColumn) return NoColumn(place, LookOf(feature).column, header);
  }
  if (columns.energy == kNoCsvColumn && options.needs_energy) {
    return NoColumn(place, "energy_mean", header);
  }
  if (const auto missing = MissingOfMachine(columns)) {
    return NoColumn(place, *missing, header,
                    "; a machine without GPU has 'cpu_energy_mean' instead");
  }
  return columns;
}

}  // namespace beryl::datasets
