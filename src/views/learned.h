// Shared by results about learned models.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "types/dataset.h"
#include "types/energy_model.h"

namespace beryl::views {

// "law": its terms and its sentence.
void WriteLaw(JsonWriter& json, const EnergyLaw& law);
// An object with a number for each level: {"ml":0.5,"module":0.4,"model":0.4}.
void WriteLevels(JsonWriter& json, std::string_view key, const std::array<double, 3>& values);

// "0.51 %", "12.3 %", "-".
std::string ErrorText(double percent);

}  // namespace beryl::views
