// Where measured data for tests is.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace beryl::datasets {

// IrEne's device_1; empty: not on this machine.
inline std::string PublishedData() {
  const char* given = std::getenv("BERYL_IRENE_DATA");
  const std::string folder =
      std::string(given != nullptr ? given : "../shared/data/irene") + "/device_1";
  return std::filesystem::exists(folder) ? folder : "";
}
// The part of it that comes with the project.
inline constexpr const char* kMeasuredSlice = "tests/data/learn/measured_slice.csv.gz";
inline constexpr const char* kNoPublishedData =
    "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";

}  // namespace beryl::datasets
