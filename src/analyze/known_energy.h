// The known energy of a whole model in a run, measured or predicted.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "types/column.h"
#include "types/dataset.h"

namespace beryl::analyze {

struct WholeEnergy {
  std::optional<Joules> measured;
  std::optional<Joules> predicted;
  std::optional<Joules> low;
  std::optional<Joules> high;
};
WholeEnergy WholeEnergyOf(const Column& predicted);
// `predicted`: one column for each run of the data, or empty.
WholeEnergy WholeEnergyOf(const Dataset& data, const std::vector<Column>& predicted, size_t run);

// The error if no energy is known, with what to do about it.
Error NoEnergyError(const Dataset& data, bool predicted);

// A batch size and a sequence length.
using InputSize = std::pair<std::optional<double>, std::optional<double>>;
// "16x256", "16x?" if one is unknown; and the distinct sizes of several runs.
std::string SizeText(const InputSize& size);
std::string SizesText(const Dataset& data);

}  // namespace beryl::analyze
