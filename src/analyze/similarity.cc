#include <cmath>
#include <map>
#include <utility>

#include "analyze/analyze.h"
#include "analyze/statistics.h"
#include "base/compensated_sum.h"
#include "types/unknown.h"

namespace beryl::analyze {
namespace {

double MeanDifference(const std::vector<double>& a, const std::vector<double>& b) {
  CompensatedSum sum;
  size_t pairs = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) continue;
    sum.Add(a[i] - b[i]);
    ++pairs;
  }
  return pairs > 0 ? sum.value() / static_cast<double>(pairs) : kUnknown;
}

}  // namespace

SimilarityMatrices Similarity(const std::vector<std::string>& labels,
                              const std::vector<EnergyProfile>& profiles) {
  // One index for every name of any run, which makes profiles vectors of equal length.
  std::map<std::pair<std::string_view, Phase>, size_t> place_of;
  for (const EnergyProfile& profile : profiles) {
    for (const NamedEnergy& entry : profile) {
      place_of.try_emplace({entry.name, entry.phase}, place_of.size());
    }
  }
  const size_t runs = profiles.size();
  const size_t names = place_of.size();
  std::vector<std::vector<double>> energy(runs, std::vector<double>(names, kUnknown));
  std::vector<std::vector<double>> power = energy;
  std::vector<std::vector<bool>> has(runs, std::vector<bool>(names, false));
  SimilarityMatrices matrices;
  matrices.runs = labels;
  for (size_t run = 0; run < runs; ++run) {
    matrices.names.push_back(profiles[run].size());
    for (const NamedEnergy& entry : profiles[run]) {
      const size_t place = place_of.at({entry.name, entry.phase});
      energy[run][place] = ValueOrNan(entry.energy);
      power[run][place] = ValueOrNan(entry.power);
      has[run][place] = true;
    }
  }
  for (size_t row = 0; row < runs; ++row) {
    for (size_t column = 0; column < runs; ++column) {
      uint64_t common = 0;
      uint64_t only_here = 0;
      for (size_t name = 0; name < names; ++name) {
        if (!std::isnan(energy[row][name]) && !std::isnan(energy[column][name])) ++common;
        if (has[row][name] && !has[column][name]) ++only_here;
      }
      matrices.common.push_back(common);
      matrices.only_here.push_back(only_here);
      matrices.energy_pearson.push_back(Pearson(energy[row], energy[column]));
      matrices.power_pearson.push_back(Pearson(power[row], power[column]));
      matrices.energy_difference.push_back(MeanDifference(energy[row], energy[column]));
      matrices.power_difference.push_back(MeanDifference(power[row], power[column]));
    }
  }
  return matrices;
}

}  // namespace beryl::analyze
