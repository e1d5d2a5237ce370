#include "learn/predict.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/fit/fit.h"
#include "learn/fit/intervals.h"

namespace beryl::learn {
namespace {

// Collects why nodes could not be predicted: by type of ML primitive, or by feature.
class Unpredicted {
 public:
  Unpredicted(const EnergyModel& model, const Dataset& data) : model_(model), data_(data) {}

  void Add(const ModelRun& run, NodeId node, const MeasuredRow& row, const std::string& type) {
    for (const Feature feature : model_.features) {
      if (std::isnan(At(row.features, feature))) {
        Count({NoteKind::kFeatureMissing, std::string(LookOf(feature).column)}, run, node);
        return;
      }
    }
    const TreeRegressors* trees = model_.trees();
    if (trees == nullptr) return;
    if (!run.complete && row.level != kPrimitiveLevel) {
      Count(NoteKind::kPartsMissing, run, node);
      return;
    }
    if (row.level == kPrimitiveLevel) {
      std::string trained;
      for (const auto& [name, regressor] : trees->primitives) {
        trained += (trained.empty() ? "" : ", ") + name;
      }
      Count({NoteKind::kTypeUnknownToModel, type, {trained}}, run, node);
    }
  }

  void Count(Note note, const ModelRun& run, NodeId node) {
    note.first = PlaceOf(data_, run, node);
    CountNote(notes_, note);
  }

  const std::vector<Note>& notes() const { return notes_; }

 private:
  const EnergyModel& model_;
  const Dataset& data_;
  std::vector<Note> notes_;
};

std::vector<double> SelfOf(const ModelTree& tree, const std::vector<double>& total) {
  std::vector<double> self = total;
  for (NodeId node = 1; node < tree.nodes.size(); ++node) {
    self[tree.nodes[node].parent] -= total[node];
  }
  return self;
}

}  // namespace

Status CheckPredictsData(const EnergyModel& model) {
  if (model.datasheet() == nullptr) return {};
  return MisuseError(
      fmt::format("profile '{}' is a datasheet and predicts from a description only; use a profile "
                  "written by beryl train, or predict a model by name",
                  Printable(model.name)));
}

std::vector<Column> Predict(const EnergyModel& model, const Dataset& data,
                            std::vector<Note>& notes) {
  const Measurements all = Gather(data);
  std::vector<Uncertainty> uncertainties;
  const std::vector<double> joules =
      PredictNodes(model, all, ModelChoice(all.models.size(), true), &uncertainties);
  Unpredicted unpredicted(model, data);
  std::vector<Column> columns;
  for (size_t index = 0; index < data.runs.size(); ++index) {
    const ModelRun& run = data.runs[index];
    const MeasuredTree& tree = all.trees[index];
    Column column = PredictedColumn(
        Origin::kPredicted, fmt::format("{}, method {}", model.name, MethodName(model.method)));
    column.total.assign(joules.begin() + tree.begin, joules.begin() + tree.end);
    column.self = SelfOf(run.tree, column.total);
    for (NodeId node = 0; node < column.total.size(); ++node) {
      const MeasuredRow& row = all.rows[all.nodes[tree.begin + node].row];
      const Interval interval =
          uncertainties.empty()
              ? IntervalOf(column.total[node], model.bands[row.level], DoubtOf(model, row.features))
              : IntervalOf(column.total[node], uncertainties[tree.begin + node],
                           model.described()->noise_factors[row.level]);
      column.low.push_back(interval.low);
      column.high.push_back(interval.high);
      if (column.total[node] < 0) unpredicted.Count(NoteKind::kPredictedBelowZero, run, node);
      // A root without a row in the data does not count as unpredicted.
      if (std::isnan(column.total[node]) && (node > 0 || run.measured[0] > 0)) {
        unpredicted.Add(run, node, row, run.tree.nodes[node].type);
      }
    }
    columns.push_back(std::move(column));
  }
  AppendNotes(notes, unpredicted.notes());
  return columns;
}

}  // namespace beryl::learn
