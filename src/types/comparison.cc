#include "types/comparison.h"

#include <array>

namespace beryl {

// In the order of the values.
std::string_view ComparedEnergyName(ComparedEnergy of) {
  constexpr std::array<std::string_view, 3> kNames = {"operations", "ours", "machine"};
  return kNames[static_cast<size_t>(of)];
}

std::string_view VariationUnitName(VariationUnit unit) {
  constexpr std::array<std::string_view, 5> kNames = {"runs", "runs_of_one_side", "rounds",
                                                      "blocks", "assumed"};
  return kNames[static_cast<size_t>(unit)];
}

}  // namespace beryl
