#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/energy_model.h"

namespace beryl::learn {

// The profiles that ship with the program: first the trained ones, then the datasheets, which
// predict from descriptions only.
std::vector<std::string> ProfileNames();
// Short names: "a100" of a100-80gb-sxm.
std::vector<std::string> AliasesOf(std::string_view name);
// By its name or a short name; case, blanks, '-' and '_' do not matter. The model has its full
// name.
std::optional<EnergyModel> FindProfile(std::string_view name);

}  // namespace beryl::learn
