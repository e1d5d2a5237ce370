#include "learn/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/child_weights.h"
#include "learn/law.h"
#include "learn/operation_costs.h"
#include "learn/primitives.h"

namespace beryl::learn {
namespace {

template <typename T>
std::vector<T> ByNode(const Measurements& all, const std::vector<T>& by_row) {
  std::vector<T> by_node;
  by_node.reserve(all.nodes.size());
  for (const MeasuredNode& node : all.nodes) by_node.push_back(by_row[node.row]);
  return by_node;
}

// The features of a set, as far as they are known: IrEne's, and those its released code adds to
// each set. Of a machine without a GPU, the CPU's own energy counter stands for the GPU's.
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

// Rows to learn from: of chosen models, with energy and with every feature.
std::vector<uint32_t> UsableRows(const Measurements& all, const ModelChoice& models,
                                 const std::vector<Feature>& features) {
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < all.rows.size(); ++i) {
    const Measurement& row = all.rows[i];
    if (models[row.model] && row.measured > 0 && KnowsAll(row.features, features)) {
      rows.push_back(i);
    }
  }
  return rows;
}

// Joules of ML primitives by row; NaN where there is no regressor for its type.
std::vector<double> LeafJoules(const EnergyModel& model, const Measurements& all,
                               const ModelChoice& models) {
  std::vector<const PrimitiveRegressor*> by_type(all.types.size(), nullptr);
  for (size_t type = 0; type < all.types.size(); ++type) {
    const auto at = model.primitives.find(all.types[type]);
    if (at != model.primitives.end()) by_type[type] = &at->second;
  }
  std::vector<double> joules(all.rows.size(), kUnknown);
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const Measurement& row = all.rows[i];
    if (row.level != kPrimitiveLevel || !models[row.model] || by_type[row.type] == nullptr)
      continue;
    joules[i] = Apply(*by_type[row.type], Pick(row.features, model.features));
  }
  return joules;
}

Result<bool> FitTrees(const Measurements& all, const ModelChoice& models,
                      const TrainOptions& options, EnergyModel& model) {
  const auto rows = UsableRows(all, models, model.features);
  model.primitives = FitPrimitives(all, rows, model.features);
  if (model.primitives.empty()) {
    return InvalidError(fmt::format("method {} needs measured ML primitives, and there are none",
                                    MethodName(model.method)));
  }
  if (model.method == Method::kSum) return true;
  const std::vector<double> leaf_joules = LeafJoules(model, all, models);
  std::vector<uint32_t> trees;
  for (uint32_t i = 0; i < all.trees.size(); ++i) {
    const MeasuredTree& tree = all.trees[i];
    if (!models[tree.model] || !tree.trainable || tree.end - tree.begin < 2) continue;
    // A leaf that is no ML primitive has no prediction to start from.
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
  model.weighting = TrainChildWeights(all, trees, model.features, leaf_joules,
                                      {options.method, options.seed, options.epochs});
  return true;
}

std::vector<double> PredictTrees(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models) {
  const std::vector<double> leaf_joules = LeafJoules(model, all, models);
  const bool unstructured = model.method == Method::kUnstructured;
  std::vector<double> factor(all.rows.size(), 1);  // by row; of the unstructured its joules
  if (model.method != Method::kSum) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < all.rows.size(); ++i) {
      if (models[all.rows[i].model]) rows.push_back(i);
    }
    const std::vector<double> scores = Score(model.weighting, all, rows, model.features);
    for (size_t i = 0; i < rows.size(); ++i) {
      factor[rows[i]] = unstructured ? scores[i] : 1 + std::tanh(scores[i]) / model.weighting.tau;
    }
  }
  std::vector<double> joules(all.nodes.size(), kUnknown);
  for (const MeasuredTree& tree : all.trees) {
    if (!models[tree.model]) continue;
    for (uint32_t i = tree.begin; i < tree.end; ++i) {
      const MeasuredNode& node = all.nodes[i];
      const bool primitive = all.rows[node.row].level == kPrimitiveLevel;
      // Where rows are missing, what is there does not add up to the whole.
      joules[i] = node.leaf || primitive ? leaf_joules[node.row]
                  : unstructured         ? factor[node.row]
                  : tree.complete        ? 0
                                         : kUnknown;
    }
    // Backwards, so that a child is complete before it counts in its parent. An unknown child
    // makes an unknown parent.
    for (uint32_t i = tree.end; !unstructured && i-- > tree.begin + 1;) {
      const MeasuredNode& node = all.nodes[i];
      joules[node.parent] += factor[node.row] * joules[i];
    }
  }
  return joules;
}

// Rows whose nodes are described, with what was measured of them.
std::vector<CostRow> DescribedRows(const Measurements& all, const ModelChoice& models,
                                   bool seconds) {
  std::vector<CostRow> rows;
  for (const Measurement& row : all.rows) {
    const double value = seconds ? At(row.features, Feature::kSeconds) : row.measured;
    if (!models[row.model] || row.operations == kUndescribed || !(row.measured > 0) ||
        !(value > 0)) {
      continue;
    }
    rows.push_back({&all.operations[row.operations], value});
  }
  return rows;
}

Result<DescribedModel> FitDescribed(const Measurements& all, const ModelChoice& models,
                                    bool seconds) {
  constexpr size_t kFewest = 40;
  const std::vector<CostRow> rows = DescribedRows(all, models, false);
  if (rows.size() < kFewest) {
    return InvalidError(fmt::format(
        "method describe learns from models that are known by their description (`beryl models` "
        "lists them) and needs {} measurements of such; there are {}",
        kFewest, rows.size()));
  }
  DescribedModel described;
  described.energy = FitCosts(rows, all.primitives);
  if (seconds) {
    const std::vector<CostRow> times = DescribedRows(all, models, true);
    if (times.size() >= kFewest) described.seconds = FitCosts(times, all.primitives);
  }
  return described;
}

std::vector<double> PredictDescribed(const DescribedModel& described, const Measurements& all,
                                     const ModelChoice& models, std::vector<Spread>* spreads) {
  const PreparedCosts prepared(described.energy);
  const CostModel costs(prepared, all.primitives);
  std::vector<double> by_row(all.rows.size(), kUnknown);
  std::vector<Spread> spread_by_row(all.rows.size());
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const Measurement& row = all.rows[i];
    if (!models[row.model] || row.operations == kUndescribed) continue;
    const CostEstimate estimate = costs.Alone(all.operations[row.operations]);
    by_row[i] = estimate.value > 0 ? estimate.value : kUnknown;
    spread_by_row[i] = {estimate.noise, estimate.doubt};
  }
  if (spreads != nullptr) *spreads = ByNode(all, spread_by_row);
  return ByNode(all, by_row);
}

}  // namespace

bool KnowsAll(const FeatureRow& row, const std::vector<Feature>& features) {
  return std::none_of(features.begin(), features.end(),
                      [&](Feature feature) { return std::isnan(At(row, feature)); });
}

Result<bool> CheckMethod(Method method, FeatureSet set, const std::vector<Feature>& known) {
  if (method == Method::kDatasheet) {
    return MisuseError(
        "a datasheet is written, not learned: there is nothing to train or to evaluate; choose "
        "another method, such as --method law");
  }
  if (method == Method::kLaw) {
    if (set == FeatureSet::kModel) {
      return MisuseError(
          "the law is made of a run's features (time and the device's energy); with --features "
          "model choose another method, such as --method end2end");
    }
    if (!Has(known, Feature::kSeconds)) {
      return InvalidError("the law needs the time of every node (times_mean)");
    }
    if (!Has(known, Feature::kGpuEnergy) && !Has(known, Feature::kCpuEnergy)) {
      return InvalidError(
          "the law needs the energy of the device that computes, of every node (gpu_energy_mean or "
          "cpu_energy_mean)");
    }
  }
  if (method == Method::kBaseline) {
    if (set == FeatureSet::kModel) {
      return MisuseError("the baseline is made of the GPU's energy; it has no --features model");
    }
    if (!Has(known, Feature::kGpuEnergy)) {
      return InvalidError("the baseline needs the energy of the GPU driver (gpu_energy_mean)");
    }
  }
  return true;
}

Result<EnergyModel> Fit(const Measurements& all, const ModelChoice& models,
                        const std::vector<Feature>& known, const TrainOptions& options) {
  EnergyModel model;
  model.method = options.method;
  model.feature_set = options.features;
  model.nominal = options.nominal;
  if (auto ok = CheckMethod(options.method, options.features, known); !ok) return ok.error();
  if (options.method == Method::kDescribe) {
    auto described = FitDescribed(all, models, options.seconds);
    if (!described) return described.error();
    model.described = std::move(*described);
    return model;
  }
  if (options.method == Method::kBaseline) {
    model.features = {Feature::kGpuEnergy};
    model.pue = options.pue;
    return model;
  }
  if (options.method == Method::kLaw) {
    const LawTerms terms = TermsOf(known);
    model.features = FeaturesOf(terms);
    const auto rows = UsableRows(all, models, model.features);
    if (rows.size() < terms.needed()) {
      return InvalidError(
          fmt::format("the law has {} terms to find and needs as many measurements; there are {}",
                      terms.needed(), rows.size()));
    }
    model.law = FitLaw(all, rows, terms);
    return model;
  }
  model.features = FeaturesOfSet(options.features, known);
  if (IsSeeded(options.method)) model.seed = options.seed;
  if (auto ok = FitTrees(all, models, options, model); !ok) return ok.error();
  return model;
}

std::vector<double> PredictNodes(const EnergyModel& model, const Measurements& all,
                                 const ModelChoice& models, std::vector<Spread>* spreads) {
  if (model.method == Method::kDescribe) {
    return PredictDescribed(*model.described, all, models, spreads);
  }
  if (model.method == Method::kDatasheet) return std::vector<double>(all.nodes.size(), kUnknown);
  if (model.method != Method::kLaw && model.method != Method::kBaseline) {
    return PredictTrees(model, all, models);
  }
  std::vector<double> by_row(all.rows.size(), kUnknown);
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const Measurement& row = all.rows[i];
    if (!models[row.model]) continue;
    by_row[i] = model.method == Method::kLaw ? Apply(model.law, row.features)
                                             : model.pue * At(row.features, Feature::kGpuEnergy);
  }
  return ByNode(all, by_row);
}

std::string PlaceOf(const Dataset& data, const ModelRun& run, NodeId node) {
  std::string place =
      fmt::format("{}: {} {} {}", data.name, run.model, InputText(run), ScopeOf(run.tree, node));
  const uint64_t line = node < run.lines.size() ? run.lines[node] : 0;
  if (line > 0) place += fmt::format(" (line {})", line);
  return place;
}

}  // namespace beryl::learn
