// Tables that people write: accuracies, and prices of electricity. Whatever the bytes are, what is
// read is finite and every line is a row or in a note.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "datasets/datasets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::vector<beryl::Note> notes;
  if (const auto accuracies = beryl::datasets::ReadAccuracies(text, "fuzz", notes)) {
    for (const auto& one : *accuracies) {
      if (!std::isfinite(one.accuracy) || one.model.empty()) std::abort();
    }
  }
  if (const auto regions = beryl::datasets::ReadElectricity(text, "fuzz", notes)) {
    for (const auto& region : *regions) {
      // Unknown is less than any number.
      const double price = region.price_per_kwh.value_or(0);
      const double carbon = region.co2e_g_per_kwh.value_or(0);
      const bool good = std::isfinite(price) && price >= 0 && std::isfinite(carbon) && carbon >= 0;
      if (!good || region.region.empty()) std::abort();
    }
  }
  return 0;
}
