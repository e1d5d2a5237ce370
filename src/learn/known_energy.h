// What is known of a whole model's energy in a run, measured or predicted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "types/column.h"
#include "types/dataset.h"

namespace beryl::learn {

struct WholeEnergy {
  std::optional<Joules> measured;
  std::optional<Joules> predicted;
  std::optional<Joules> low;
  std::optional<Joules> high;
};
// `predicted`: a column for each run of the data, or empty.
WholeEnergy WholeEnergyOf(const Dataset& data, const std::vector<Column>& predicted, size_t run);

// That there is nothing to analyse, and what to do.
Error NoEnergyError(const Dataset& data, bool predicted);

// "16x256", and those of several runs, each once.
std::string SizeText(double batch_size, double seq_len);
std::string SizesText(const Dataset& data);

}  // namespace beryl::learn
