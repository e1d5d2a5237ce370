// The energy of parts of a run by step, and its variation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "types/footprint.h"

namespace beryl {

// The rows that each kind of operation belongs to.
using RowsOfKind = std::vector<std::vector<uint32_t>>;
// Known shares by step, without shares outside of steps.
std::vector<const EnergyShare*> SharesInSteps(const Footprint& footprint);
// Calls `visit` with each row's energy in a step, for rows that have any.
void ForEachStep(const std::vector<const EnergyShare*>& shares, const RowsOfKind& rows_of_kind,
                 size_t rows, const std::function<void(uint32_t row, double energy)>& visit);

// Mean and deviation over `steps` steps; values not added are zero.
struct StepStatistics {
  double sum = 0;
  double squares_about_mean = 0;
  size_t given = 0;

  double Mean(size_t steps) const { return sum / static_cast<double>(steps); }
  double Deviation(size_t steps) const;
  // Once all values are added.
  void AddDistance(double value, size_t steps);
};
// Over all values at once.
StepStatistics StepStatisticsOf(const std::vector<double>& values, size_t steps);

}  // namespace beryl
