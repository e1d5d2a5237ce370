#include "types/energy_by_step.h"

#include <algorithm>
#include <cmath>

namespace beryl {

std::vector<const EnergyShare*> SharesInSteps(const Footprint& footprint) {
  std::vector<const EnergyShare*> shares;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) shares.push_back(&share);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const EnergyShare* a, const EnergyShare* b) { return a->step < b->step; });
  return shares;
}

void ForEachStep(const std::vector<const EnergyShare*>& shares, const RowsOfKind& rows_of_kind,
                 size_t rows, const std::function<void(uint32_t row, double energy)>& visit) {
  std::vector<double> energy(rows, 0);
  std::vector<bool> touched(rows, false);
  std::vector<uint32_t> list;
  for (size_t i = 0; i < shares.size();) {
    const uint32_t step = shares[i]->step;
    for (; i < shares.size() && shares[i]->step == step; ++i) {
      for (const uint32_t row : rows_of_kind[shares[i]->kind]) {
        if (!touched[row]) list.push_back(row);
        touched[row] = true;
        energy[row] += shares[i]->energy.value;
      }
    }
    for (const uint32_t row : list) {
      visit(row, energy[row]);
      energy[row] = 0;
      touched[row] = false;
    }
    list.clear();
  }
}

double StepStatistics::Deviation(size_t steps) const {
  const double mean = Mean(steps);
  const double absent = static_cast<double>(steps - given) * mean * mean;
  return std::sqrt((squares_about_mean + absent) / static_cast<double>(steps - 1));
}

void StepStatistics::AddDistance(double value, size_t steps) {
  const double distance = value - Mean(steps);
  squares_about_mean += distance * distance;
  ++given;
}

StepStatistics StepStatisticsOf(const std::vector<double>& values, size_t steps) {
  StepStatistics spread;
  for (const double value : values) spread.sum += value;
  for (const double value : values) spread.AddDistance(value, steps);
  return spread;
}

}  // namespace beryl
