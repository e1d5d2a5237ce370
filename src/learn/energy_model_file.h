// The file format of an EnergyModel, described in docs/energy-model-file.md.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "types/energy_model.h"

namespace beryl::learn {

inline constexpr size_t kLargestEnergyModel = size_t{64} << 20;

// Writes an EnergyModel as readable JSON, and reads it back. Reading a damaged or different file is
// an error that gives the reason.
std::string WriteEnergyModel(const EnergyModel& model);
Result<EnergyModel> ReadEnergyModel(std::string text, const std::string& name);

}  // namespace beryl::learn
