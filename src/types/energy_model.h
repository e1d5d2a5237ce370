// EnergyModel: what was learned from a Dataset, enough to predict the energy of nodes that were
// never metered, and to say how sure that is. Numbers only: nothing in it can be run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/dataset.h"
#include "types/datasheet.h"
#include "types/described_model.h"
#include "types/provenance.h"

namespace beryl {

// kDatasheet is not learned: it is what a machine's makers say of it.
enum class Method : uint8_t {
  kLaw,
  kEnd2End,
  kStepwise,
  kSum,
  kUnstructured,
  kBaseline,
  kDescribe,
  kDatasheet,
};
std::string_view MethodName(Method method);
std::optional<Method> ParseMethod(std::string_view name);
// Whether training starts from random numbers, so that seeds matter.
bool IsSeeded(Method method);

enum class FeatureSet : uint8_t { kAll, kResource, kModel };
std::string_view FeatureSetName(FeatureSet features);
std::optional<FeatureSet> ParseFeatureSet(std::string_view name);

// One coefficient and how far the data fixes it.
struct LawTerm {
  double value = 0;
  double deviation = 0;  // standard deviation, prior and data together
  bool measured = true;  // the data fixed it; false: it is a prior, assumed
};

// E = gpu x GPU energy + cpu x CPU energy + (rest + busy x (CPU % - reference)) x time. Terms
// without a value are not part of the law: the data does not have what they multiply.
struct EnergyLaw {
  std::optional<LawTerm> gpu_energy;
  std::optional<LawTerm> cpu_energy;
  LawTerm rest_w;
  std::optional<LawTerm> busy_w;  // watts for each percent of CPU utilisation
  double busy_reference = 0;      // percent; the utilisation at which `rest_w` holds
};
// "1.05 x GPU energy + 98 W x time"
std::string LawSentence(const EnergyLaw& law);

// (x - mean) / scale for each feature, in the order of EnergyModel::features.
struct Standard {
  std::vector<double> mean;
  std::vector<double> scale;
};

// Equation 1: energy of one ML primitive.
struct PrimitiveRegressor {
  Standard standard;
  std::vector<double> weights;
  double bias = 0;
  uint64_t samples = 0;
};

// Equation 3: what a child's energy counts in its parent's, 1 + tanh(w . p(x) + b) / tau; p are all
// products of up to three standardised features, by degree, then in the order of features (1, a, b,
// aa, ab, bb, aaa, ...). Of the unstructured regressor, w . p(x) + b is the node's energy itself.
struct ChildWeighting {
  Standard standard;
  std::vector<double> weights;
  double bias = 0;
  double tau = 10;
};

// Conformal calibration at one level: measured / predicted of nodes that were held out lies within
// [low, high] for a share `nominal` of them.
struct ErrorBand {
  double low = 1;
  double high = 1;
  uint64_t nodes = 0;  // 0: nothing was held out at this level, there is no band
};

struct EnergyModel {
  Provenance provenance;  // of files that do not say it: tool and day alone
  Method method = Method::kLaw;
  FeatureSet feature_set = FeatureSet::kAll;
  std::vector<Feature> features;  // that it needs
  uint64_t seed = 0;
  EnergyLaw law;  // of kLaw
  std::map<std::string, PrimitiveRegressor>
      primitives;            // by type in lower case; but for law, baseline
  ChildWeighting weighting;  // of kEnd2End, kStepwise, kUnstructured
  double pue = 1;            // of kBaseline
  // What tells energy from a description: of kDescribe, and beside the law where the data's models
  // are known.
  std::optional<DescribedModel> described;
  std::optional<Datasheet> datasheet;  // of kDatasheet, and of no other
  double nominal = 0.9;
  std::array<ErrorBand, 3> bands;  // by position in kDataLevels
  struct TrainedOn {
    std::string data;
    std::string machine;  // "GTX 1080 Ti, i9-7900X"; empty: not said
    std::vector<std::string> models;
    uint64_t nodes = 0;
    // Mean absolute percentage error of held-out models, by position in kDataLevels; NaN: none.
    std::array<double, 3> mape = {kUnknown, kUnknown, kUnknown};
  } trained_on;
  std::string name;  // of the profile or file, for messages; not stored
};

}  // namespace beryl
