// Tables that people write: accuracies, and prices of electricity. Whatever the bytes are, what is
// read is finite and every line is a row or in a note.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "learn/learn.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  std::vector<beryl::Note> notes;
  if (const auto accuracies = beryl::learn::ReadAccuracies(text, "fuzz", notes)) {
    for (const auto& one : *accuracies) {
      if (!std::isfinite(one.accuracy) || one.model.empty()) std::abort();
    }
  }
  if (const auto regions = beryl::learn::ReadElectricity(text, "fuzz", notes)) {
    for (const auto& region : *regions) {
      if (region.price_per_kwh < 0 || region.co2e_g_per_kwh < 0 || region.region.empty()) {
        std::abort();
      }
    }
  }
  return 0;
}
