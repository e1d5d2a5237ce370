#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "learn/energy_model_file.h"
#include "learn_laws.h"

using beryl::fuzz::Require;

namespace {

void CheckStandard(const beryl::Standard& standard, size_t count) {
  Require(standard.mean.size() == count && standard.scale.size() == count, "a standard fits");
  for (const double scale : standard.scale) Require(scale > 0, "a scale is positive");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  auto model = beryl::learn::ReadEnergyModel({reinterpret_cast<const char*>(bytes), size}, "fuzz");
  if (!model) {
    Require(model.error().message.find("fuzz") != std::string::npos, "an error names its file");
    return 0;
  }
  const size_t count = model->features.size();
  if (const beryl::TreeRegressors* trees = model->trees()) {
    for (const auto& [type, regressor] : trees->primitives) {
      CheckStandard(regressor.standard, count);
      Require(regressor.weights.size() == count, "weights fit the features");
    }
    if (beryl::IsSeeded(model->method)) CheckStandard(trees->weighting.standard, count);
    Require(trees->weighting.tau > 0, "tau is positive");
  }
  for (const beryl::ErrorBand& band : model->bands) {
    Require(band.low >= 0 && band.low <= band.high, "a band is an interval");
  }
  const std::string written = beryl::learn::WriteEnergyModel(*model);
  auto again = beryl::learn::ReadEnergyModel(written, "fuzz");
  Require(again.has_value(), "what is written can be read");
  Require(beryl::learn::WriteEnergyModel(*again) == written, "written and read it is the same");
  return 0;
}
