#include "tree/figures.h"

#include <algorithm>
#include <cmath>

#include "base/compensated_sum.h"

namespace beryl::tree {
namespace {

// Shares by step, those of no step left out.
std::vector<const EnergyShare*> InSteps(const Footprint& footprint) {
  std::vector<const EnergyShare*> shares;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) shares.push_back(&share);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const EnergyShare* a, const EnergyShare* b) { return a->step < b->step; });
  return shares;
}

// Calls `visit` with each row's energy in a step, for the rows that have any in it.
template <typename Visit>
void ForEachStep(const std::vector<const EnergyShare*>& shares,
                 const std::vector<std::vector<uint32_t>>& rows_of_kind, size_t rows,
                 Visit&& visit) {
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

}  // namespace

std::vector<RowFigures> Figures(const Footprint& footprint,
                                const std::vector<std::vector<uint32_t>>& rows_of_kind, size_t rows,
                                bool per_step) {
  std::vector<RowFigures> figures(rows);
  std::vector<CompensatedSum> sums(rows);
  for (const EnergyShare& share : footprint.shares) {
    if (per_step && share.step == kNoStep) continue;
    for (const uint32_t row : rows_of_kind[share.kind]) {
      figures[row].present = true;
      if (!share.IsKnown()) continue;
      figures[row].known = true;
      sums[row].Add(share.energy.value);
    }
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    for (const uint32_t row : rows_of_kind[ops.kind]) figures[row].present = true;
  }
  for (size_t row = 0; row < rows; ++row) figures[row].energy = {sums[row].value()};
  if (!per_step) return figures;

  const size_t steps = std::max<size_t>(1, KnownSteps(footprint).size());
  for (RowFigures& row : figures) {
    row.energy /= static_cast<double>(steps);
    row.steps.mean = row.energy.value;
    row.steps.size = steps;
  }
  if (steps < 2) return figures;
  std::vector<double> squares(rows, 0);
  std::vector<size_t> given(rows, 0);
  ForEachStep(InSteps(footprint), rows_of_kind, rows, [&](uint32_t row, double energy) {
    const double distance = energy - figures[row].steps.mean;
    squares[row] += distance * distance;
    ++given[row];
  });
  for (size_t row = 0; row < rows; ++row) {
    Sample& sample = figures[row].steps;
    // In the other steps it took nothing.
    const double absent = static_cast<double>(steps - given[row]) * sample.mean * sample.mean;
    sample.deviation = std::sqrt((squares[row] + absent) / static_cast<double>(steps - 1));
  }
  return figures;
}

}  // namespace beryl::tree
