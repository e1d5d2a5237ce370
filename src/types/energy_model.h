// EnergyModel: what was learned from a Dataset: enough to predict the energy of unmetered nodes,
// with an uncertainty. Contains only numbers, nothing executable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "types/dataset.h"
#include "types/datasheet.h"
#include "types/described_model.h"
#include "types/description.h"
#include "types/provenance.h"

namespace beryl {

enum class FeatureSet : uint8_t { kAll, kResource, kModel };
std::string_view FeatureSetName(FeatureSet features);
std::optional<FeatureSet> ParseFeatureSet(std::string_view name);

// Which features a method uses.
enum class FeatureUse : uint8_t {
  kChosen,  // those of a feature set
  kOwn,     // always the same few
  kNone,    // none: it predicts from descriptions alone
};

// The methods: name on the command line, whether training is randomised (so that seeds matter), the
// features they use, and help text. Each is implemented in a file of learn/methods. A datasheet is
// not learned, so help omits it.
#define BERYL_METHODS(METHOD)                                                                     \
  METHOD(kLaw, "law", false, kOwn,                                                                \
         "energy = a x the device's own energy + (rest of the machine + c x CPU %) x time, one "  \
         "law\nfor every node. Terms that the data does not determine keep a prior, and are "     \
         "marked")                                                                                \
  METHOD(kDescribe, "describe", false, kNone,                                                     \
         "from the model's description alone, no run: the cost of each kind of operation to "     \
         "the\ndevice and the host, and a correction for shapes that were measured. The law "     \
         "includes\nit if the models of the data are in the catalog (`beryl models`)")            \
  METHOD(kEnd2End, "end2end", true, kChosen,                                                      \
         "IrEne: a linear regressor for each ML primitive, and child weights learned over whole " \
         "trees")                                                                                 \
  METHOD(kStepwise, "stepwise", true, kChosen,                                                    \
         "the same, each parent from its children's measured energy")                             \
  METHOD(kSum, "sum", false, kChosen, "the sum of ML primitives")                                 \
  METHOD(kUnstructured, "unstructured", true, kChosen,                                            \
         "one regressor for all modules and models, without a tree")                              \
  METHOD(kBaseline, "baseline", false, kOwn,                                                      \
         "the GPU driver's energy times the power usage effectiveness (Strubell et al.)")         \
  METHOD(kDatasheet, "datasheet", false, kNone, "")

#define BERYL_METHOD_ID(id, ...) id,
enum class Method : uint8_t { BERYL_METHODS(BERYL_METHOD_ID) };
#undef BERYL_METHOD_ID

struct MethodLook {
  Method method = Method::kLaw;
  std::string_view name;
  bool seeded = false;
  FeatureUse features = FeatureUse::kChosen;
  std::string_view help;  // in lines; empty: cannot be chosen
};
// In the order of the list.
std::span<const MethodLook> Methods();
std::string_view MethodName(Method method);
std::optional<Method> ParseMethod(std::string_view name);
bool IsSeeded(Method method);

// One coefficient and its uncertainty.
struct LawTerm {
  double value = 0;
  double deviation = 0;  // standard deviation, of prior and data together
  bool measured = true;  // false: it is an assumed prior that the data does not determine
};

// E = gpu x GPU energy + cpu x CPU energy + (rest + busy x (CPU % - reference)) x time. A term
// without a value is not part of the law: the data lacks its factor.
struct EnergyLaw {
  std::optional<LawTerm> gpu_energy;
  std::optional<LawTerm> cpu_energy;
  LawTerm rest_w;
  std::optional<LawTerm> busy_w;  // watts per percent of CPU utilisation
  double busy_reference = 0;      // percent; the utilisation at which `rest_w` applies
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

// Equation 3: the weight of a child's energy in its parent's, 1 + tanh(w . p(x) + b) / tau. p are
// all products of up to three standardised features, by degree, then in the order of features (1,
// a, b, aa, ab, bb, aaa, ...). For the unstructured regressor, w . p(x) + b is the node's energy
// itself.
struct ChildWeighting {
  Standard standard;
  std::vector<double> weights;
  double bias = 0;
  double tau = 10;
};

// IrEne and related methods: end2end, stepwise, unstructured; sum, which has no weights.
struct TreeRegressors {
  std::map<std::string, PrimitiveRegressor> primitives;  // by type in lower case
  ChildWeighting weighting;
};

struct Baseline {
  double pue = 1;  // power usage effectiveness
};

// Conformal calibration at one level: measured / predicted is within [low, high] for a share
// `nominal` of the held-out nodes.
struct ErrorBand {
  double low = 1;
  double high = 1;
  uint64_t nodes = 0;  // 0: nothing was held out at this level, so there is no band
};

struct EnergyModel {
  Provenance provenance;  // for files without it, only tool and day
  Method method = Method::kLaw;
  FeatureSet feature_set = FeatureSet::kAll;
  std::vector<Feature> features;  // required as input
  uint64_t seed = 0;
  std::variant<EnergyLaw, TreeRegressors, Baseline, DescribedModel, Datasheet> learned;
  // Beside the law, if the data's models are known: predicts energy from a description.
  std::optional<DescribedModel> beside;
  double nominal = 0.9;
  std::array<ErrorBand, 3> bands;  // by position in kDataLevels
  struct TrainedOn {
    std::string data;
    std::string machine;  // "GTX 1080 Ti, i9-7900X"; empty: not stated
    std::vector<std::string> models;
    uint64_t nodes = 0;
    // Mean absolute percentage error on held-out models, by position in kDataLevels; NaN: none.
    std::array<double, 3> mape = {kUnknown, kUnknown, kUnknown};
    // How the described models ran. Files that do not say it are of such models.
    AttentionKind attention = AttentionKind::kEager;
    Dtype dtype = Dtype::kFloat32;
    double memory = kUnknown;  // bytes, of the device that models run on
  } trained_on;
  std::string name;  // of the profile or file, for messages; not stored

  // The learned part if it is of that type, otherwise nullptr.
  const EnergyLaw* law() const { return std::get_if<EnergyLaw>(&learned); }
  const TreeRegressors* trees() const { return std::get_if<TreeRegressors>(&learned); }
  const Datasheet* datasheet() const { return std::get_if<Datasheet>(&learned); }
  const DescribedModel* described() const {
    return beside ? &*beside : std::get_if<DescribedModel>(&learned);
  }
};

}  // namespace beryl
