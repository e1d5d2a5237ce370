#include "tree/figures.h"

#include <algorithm>

#include "base/compensated_sum.h"

namespace beryl::tree {

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

std::vector<RowFigures> Figures(const Footprint& footprint, const RowsOfKind& rows_of_kind,
                                size_t rows, bool per_step) {
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
  std::vector<Spread> spreads(rows);
  for (size_t row = 0; row < rows; ++row) spreads[row].sum = sums[row].value();
  ForEachStep(SharesInSteps(footprint), rows_of_kind, rows,
              [&](uint32_t row, double energy) { spreads[row].AddDistance(energy, steps); });
  for (size_t row = 0; row < rows; ++row) {
    figures[row].steps.deviation = spreads[row].Deviation(steps);
  }
  return figures;
}

}  // namespace beryl::tree
