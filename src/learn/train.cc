#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "learn/fit.h"
#include "learn/held_out.h"
#include "learn/intervals.h"

namespace beryl::learn {

namespace {

bool AllFinite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

bool IsFinite(const EnergyModel& model) {
  bool finite = std::isfinite(model.pue) && std::isfinite(model.law.rest_w.value) &&
                std::isfinite(model.law.rest_w.deviation) && AllFinite(model.weighting.weights) &&
                AllFinite(model.weighting.standard.mean) &&
                AllFinite(model.weighting.standard.scale) && std::isfinite(model.weighting.bias);
  for (const auto* term : {&model.law.gpu_energy, &model.law.cpu_energy, &model.law.busy_w}) {
    finite =
        finite && (!*term || (std::isfinite((*term)->value) && std::isfinite((*term)->deviation)));
  }
  for (const auto& [type, regressor] : model.primitives) {
    finite = finite && AllFinite(regressor.weights) && AllFinite(regressor.standard.mean) &&
             AllFinite(regressor.standard.scale) && std::isfinite(regressor.bias);
  }
  return finite;
}

}  // namespace

Result<EnergyModel> Train(const Dataset& data, const TrainOptions& options) {
  const Measurements all = Gather(data);
  const std::vector<Feature> known = KnownFeatures(data);
  auto model = Fit(all, ModelChoice(all.models.size(), true), known, options);
  if (!model) return model;
  model->trained_on.data = data.name;
  model->trained_on.models = all.models;
  for (const Measurement& row : all.rows) {
    if (row.measured > 0) model->trained_on.nodes += row.count;
  }
  if (options.bands && all.models.size() > 1) {
    const auto predicted = PredictHeldOut(all, known, options);
    if (!predicted) return predicted.error();
    model->bands = BandsOf(all, *predicted, kNoModel, options.nominal);
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      const double mape = MapeOverModels(all, *predicted, level);
      model->trained_on.mape[level] = std::isfinite(mape) ? mape : kUnknown;
    }
  }
  if (!IsFinite(*model)) {
    return InvalidError(fmt::format(
        "{}: method {} comes to numbers beyond all bounds; look for rows with absurd values, or "
        "take the method law",
        data.name, MethodName(options.method)));
  }
  return model;
}

namespace {

// What could not be predicted, and why: by type of ML primitive, or by feature.
class Unpredicted {
 public:
  Unpredicted(const EnergyModel& model, const Dataset& data) : model_(model), data_(data) {}

  void Add(const ModelRun& run, NodeId node, const Measurement& row, const std::string& type) {
    for (const Feature feature : model_.features) {
      if (std::isnan(At(row.features, feature))) {
        Count(fmt::format("nodes have no '{}', which the model needs: not predicted",
                          LookOf(feature).column),
              run, node);
        return;
      }
    }
    if (!model_.primitives.empty() && !run.complete && row.level != kPrimitiveLevel) {
      Count(
          "modules and models of runs with rows missing are not added up from their parts; the "
          "method law needs no parts",
          run, node);
      return;
    }
    if (!model_.primitives.empty() && row.level == kPrimitiveLevel) {
      std::string trained;
      for (const auto& [name, regressor] : model_.primitives) {
        trained += (trained.empty() ? "" : ", ") + name;
      }
      Count(fmt::format("ML primitives of type {} are unknown to the model (trained on {}): they "
                        "and what contains them are not predicted; the method law knows no types",
                        type, trained),
            run, node);
    }
  }

  void Take(std::vector<DataFinding>& findings) const {
    for (const auto& [what, finding] : found_) findings.push_back(finding);
  }

 private:
  void Count(std::string what, const ModelRun& run, NodeId node) {
    DataFinding& finding = found_[what];
    if (finding.count++ > 0) return;
    finding.what = std::move(what);
    finding.first = PlaceOf(data_, run, node);
  }

  const EnergyModel& model_;
  const Dataset& data_;
  std::map<std::string, DataFinding> found_;
};

std::vector<double> SelfOf(const ModelTree& tree, const std::vector<double>& total) {
  std::vector<double> self = total;
  for (NodeId node = 1; node < tree.nodes.size(); ++node) {
    self[tree.nodes[node].parent] -= total[node];
  }
  return self;
}

}  // namespace

std::vector<EnergyColumn> Predict(const EnergyModel& model, const Dataset& data,
                                  std::vector<DataFinding>& findings) {
  const Measurements all = Gather(data);
  const std::vector<double> joules = PredictNodes(model, all, ModelChoice(all.models.size(), true));
  Unpredicted unpredicted(model, data);
  DataFinding below{
      "nodes are predicted to take less than no energy: the method does not hold there", 0, ""};
  std::vector<EnergyColumn> columns;
  for (size_t index = 0; index < data.runs.size(); ++index) {
    const ModelRun& run = data.runs[index];
    const MeasuredTree& tree = all.trees[index];
    EnergyColumn column;
    column.label = "predicted";
    column.origin = fmt::format("predicted by {}, method {}", model.name, MethodName(model.method));
    column.total.assign(joules.begin() + tree.begin, joules.begin() + tree.end);
    column.self = SelfOf(run.tree, column.total);
    for (NodeId node = 0; node < column.total.size(); ++node) {
      const Measurement& row = all.rows[all.nodes[tree.begin + node].row];
      const Interval interval =
          IntervalOf(column.total[node], model.bands[row.level], DoubtOf(model, row.features));
      column.low.push_back(interval.low);
      column.high.push_back(interval.high);
      if (column.total[node] < 0 && below.count++ == 0) below.first = PlaceOf(data, run, node);
      // A root that the data has no row of is no loss.
      if (std::isnan(column.total[node]) && (node > 0 || run.measured[0] > 0)) {
        unpredicted.Add(run, node, row, run.tree.nodes[node].type);
      }
    }
    columns.push_back(std::move(column));
  }
  unpredicted.Take(findings);
  if (below.count > 0) findings.push_back(below);
  return columns;
}

}  // namespace beryl::learn
