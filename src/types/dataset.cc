#include "types/dataset.h"

#include <algorithm>
#include <cstdio>

namespace beryl {

const FeatureLook& LookOf(Feature feature) {
  static constexpr std::array<FeatureLook, kFeatureCount> kLooks = {{
      {"num_parameters", "1", false},
      {"input_size", "tokens", false},
      {"batch_size", "1", false},
      {"seq_len", "tokens", false},
      {"flops", "million", false},
      {"mem_bytes", "MiB", false},
      {"cpu", "%", true},
      {"mem", "%", true},
      {"gpu", "%", true},
      {"gpu_mem", "%", true},
      {"gpu_clk", "MHz", true},
      {"gpu_mem_clk", "MHz", true},
      {"times_mean", "s", true},
      {"gpu_energy_mean", "J", true},
      {"cpu_energy_mean", "J", true},
  }};
  return kLooks[static_cast<size_t>(feature)];
}

std::optional<Feature> FindFeature(std::string_view column) {
  for (size_t i = 0; i < kFeatureCount; ++i) {
    if (LookOf(static_cast<Feature>(i)).column == column) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

bool Has(const std::vector<Feature>& features, Feature feature) {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

FeatureRow UnknownFeatures() {
  FeatureRow row;
  row.fill(kUnknown);
  return row;
}

std::vector<std::string> ModelsOf(const Dataset& data) {
  std::vector<std::string> models;
  for (const ModelRun& run : data.runs) {
    if (std::find(models.begin(), models.end(), run.model) == models.end()) {
      models.push_back(run.model);
    }
  }
  return models;
}

std::vector<Feature> KnownFeatures(const Dataset& data) {
  std::array<uint64_t, kFeatureCount> known = {};
  uint64_t rows = 0;
  for (const ModelRun& run : data.runs) {
    for (const FeatureRow& row : run.features) {
      // A root without a row of its own does not show what was recorded.
      if (std::all_of(row.begin(), row.end(), [](double value) { return std::isnan(value); })) {
        continue;
      }
      ++rows;
      for (size_t i = 0; i < kFeatureCount; ++i) known[i] += std::isnan(row[i]) ? 0 : 1;
    }
  }
  std::vector<Feature> features;
  for (size_t i = 0; i < kFeatureCount; ++i) {
    if (2 * known[i] > rows) features.push_back(static_cast<Feature>(i));
  }
  return features;
}

std::string InputText(const ModelRun& run) {
  if (!run.batch_size || !run.seq_len) return "-";
  std::array<char, 64> text;
  const int size = std::snprintf(text.data(), text.size(), "%gx%g", *run.batch_size, *run.seq_len);
  return {text.data(), static_cast<size_t>(size)};
}

std::string NameOfType(std::string_view type) {
  std::string name(type);
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '.') c = '_';  // it would imply a parent
  }
  return name;
}

}  // namespace beryl
