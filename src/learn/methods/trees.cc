// IrEne and its variants: a regressor for each ML primitive. The energy of a parent is a weighted
// sum of its children (end2end, stepwise), their plain sum, or has its own regressor
// (unstructured).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/fit/child_weights.h"
#include "learn/fit/primitives.h"
#include "learn/methods/method.h"

namespace beryl::learn {

void Members(auto& io, As<Standard> auto& standard) {
  io("mean", standard.mean);
  io("scale", standard.scale);
}

void Members(auto& io, As<PrimitiveRegressor> auto& regressor) {
  Members(io, regressor.standard);
  io("weights", regressor.weights);
  io("bias", regressor.bias);
  io("samples", regressor.samples);
}

void Members(auto& io, As<ChildWeighting> auto& weighting) {
  Members(io, weighting.standard);
  io("weights", weighting.weights);
  io("bias", weighting.bias);
  io("tau", weighting.tau);
  io.Require(weighting.tau > 0, "tau", "must be above 0");
}

namespace {

// The known features of a set: IrEne's, and those that its released code adds to each set. On a
// machine without a GPU, the CPU's energy counter replaces the GPU's.
std::vector<Feature> FeaturesOfSet(FeatureSet set, const std::vector<Feature>& known) {
  std::vector<Feature> features;
  for (const Feature feature : known) {
    const bool always = feature == Feature::kParameters || feature == Feature::kInputSize;
    const bool resource = LookOf(feature).resource;
    if (feature == Feature::kCpuEnergy && Has(known, Feature::kGpuEnergy)) continue;
    if (always || set == FeatureSet::kAll || resource == (set == FeatureSet::kResource)) {
      features.push_back(feature);
    }
  }
  return features;
}

// Joules of ML primitives by row; NaN if its type has no regressor.
std::vector<double> LeafJoules(const TreeRegressors& trees, const std::vector<Feature>& features,
                               const Measurements& all, const ModelChoice& models) {
  std::vector<const PrimitiveRegressor*> by_type(all.types.size(), nullptr);
  for (size_t type = 0; type < all.types.size(); ++type) {
    const auto at = trees.primitives.find(all.types[type]);
    if (at != trees.primitives.end()) by_type[type] = &at->second;
  }
  std::vector<double> joules(all.rows.size(), kUnknown);
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const MeasuredRow& row = all.rows[i];
    if (row.level != kPrimitiveLevel || !models[row.model] || by_type[row.type] == nullptr)
      continue;
    joules[i] = Apply(*by_type[row.type], Pick(row.features, features));
  }
  return joules;
}

Status Fit(const FitInput& input, EnergyModel& model) {
  const auto& [all, models, known, options] = input;
  model.features = FeaturesOfSet(options.features, known);
  if (IsSeeded(options.method)) model.seed = options.seed;
  auto& learned = model.learned.emplace<TreeRegressors>();
  const auto rows = UsableRows(all, models, model.features);
  learned.primitives = FitPrimitives(all, rows, model.features);
  if (learned.primitives.empty()) {
    return InvalidError(fmt::format("method {} needs measured ML primitives, but the data has none",
                                    MethodName(model.method)));
  }
  if (model.method == Method::kSum) return {};
  const std::vector<double> leaf_joules = LeafJoules(learned, model.features, all, models);
  std::vector<uint32_t> trees;
  for (uint32_t i = 0; i < all.trees.size(); ++i) {
    const MeasuredTree& tree = all.trees[i];
    if (!models[tree.model] || !tree.trainable || tree.end - tree.begin < 2) continue;
    // A leaf that is not an ML primitive has no prediction to start from.
    bool usable = true;
    for (uint32_t at = tree.begin; usable && at < tree.end; ++at) {
      const MeasuredNode& node = all.nodes[at];
      usable = KnowsAll(all.rows[node.row].features, model.features) &&
               (!node.leaf || !std::isnan(leaf_joules[node.row]));
    }
    if (usable) trees.push_back(i);
  }
  if (trees.empty()) {
    return InvalidError(
        fmt::format("method {} needs whole trees: models with every module and ML primitive "
                    "measured; there are none. The method law needs no trees",
                    MethodName(model.method)));
  }
  learned.weighting =
      TrainChildWeights(all, trees, model.features, leaf_joules,
                        {options.method, options.seed, options.epochs, options.watch});
  return {};
}

std::vector<double> Predict(const EnergyModel& model, const Measurements& all,
                            const ModelChoice& models, std::vector<Uncertainty>*) {
  const auto& learned = std::get<TreeRegressors>(model.learned);
  const std::vector<double> leaf_joules = LeafJoules(learned, model.features, all, models);
  const bool unstructured = model.method == Method::kUnstructured;
  std::vector<double> factor(all.rows.size(), 1);  // by row; unstructured: joules
  if (model.method != Method::kSum) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < all.rows.size(); ++i) {
      if (models[all.rows[i].model]) rows.push_back(i);
    }
    const std::vector<double> scores = Score(learned.weighting, all, rows, model.features);
    for (size_t i = 0; i < rows.size(); ++i) {
      factor[rows[i]] = unstructured ? scores[i] : 1 + std::tanh(scores[i]) / learned.weighting.tau;
    }
  }
  std::vector<double> joules(all.nodes.size(), kUnknown);
  for (const MeasuredTree& tree : all.trees) {
    if (!models[tree.model]) continue;
    for (uint32_t i = tree.begin; i < tree.end; ++i) {
      const MeasuredNode& node = all.nodes[i];
      const bool primitive = all.rows[node.row].level == kPrimitiveLevel;
      // With rows missing, the children do not add up to the parent.
      joules[i] = node.leaf || primitive ? leaf_joules[node.row]
                  : unstructured         ? factor[node.row]
                  : tree.complete        ? 0
                                         : kUnknown;
    }
    // Backwards, so that a child is complete before it is added to its parent. An unknown child
    // makes its parent unknown.
    for (uint32_t i = tree.end; !unstructured && i-- > tree.begin + 1;) {
      const MeasuredNode& node = all.nodes[i];
      joules[node.parent] += factor[node.row] * joules[i];
    }
  }
  return joules;
}

// Requires each list of a regressor to have the length that the features imply.
void RequireLengths(auto& io, const auto& part, size_t features, size_t terms,
                    const std::string& path) {
  const auto check = [&](const std::vector<double>& list, size_t length, const char* name) {
    io.Require(list.size() == length, path + name,
               fmt::format("has {} numbers; {} features need {}", list.size(), features, length));
  };
  const std::vector<double>& scales = part.standard.scale;
  check(part.standard.mean, features, ".mean");
  check(scales, features, ".scale");
  io.Require(std::all_of(scales.begin(), scales.end(), [](double scale) { return scale > 0; }),
             path + ".scale", "has a number that is not above 0");
  check(part.weights, terms, ".weights");
}

struct Part {
  void operator()(auto& io, auto& model) const {
    auto& learned = LearnedAs<TreeRegressors>(model);
    const size_t count = model.features.size();
    io("primitives", learned.primitives);
    for (const auto& [type, regressor] : learned.primitives) {
      RequireLengths(io, regressor, count, count, "primitives." + type);
    }
    if (model.method == Method::kSum) return;
    io("child_weights", learned.weighting);
    RequireLengths(io, learned.weighting, count, CubicTerms(count), "child_weights");
  }
};

constexpr MethodSteps kTreeSteps = {nullptr, Fit, Predict, ReadPart<Part>, WritePart<Part>};

}  // namespace

const MethodSteps kEnd2EndSteps = kTreeSteps;
const MethodSteps kStepwiseSteps = kTreeSteps;
const MethodSteps kSumSteps = kTreeSteps;
const MethodSteps kUnstructuredSteps = kTreeSteps;

}  // namespace beryl::learn
