// What accuracy energy buys: IrEne's Figure 4.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/known_energy.h"
#include "learn/learn.h"
#include "learn/sheet.h"

namespace beryl::learn {
namespace {

using Size = std::pair<double, double>;  // batch size, sequence length
using Point = Tradeoff::Point;

std::optional<Joules> EnergyOf(const Point& point, bool predicted) {
  return predicted ? point.energy.predicted : point.energy.measured;
}

bool IsKnown(const WholeEnergy& energy) { return energy.measured || energy.predicted; }

// By model, the sizes at which its energy is known and that the options allow.
std::map<std::string, std::set<Size>> SizesOf(const Dataset& data,
                                              const std::vector<Column>& predicted,
                                              const TradeoffOptions& options) {
  std::map<std::string, std::set<Size>> sizes;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const ModelRun& run = data.runs[i];
    if (run.batch_size != options.batch_size.value_or(run.batch_size)) continue;
    if (run.seq_len != options.seq_len.value_or(run.seq_len)) continue;
    if (IsKnown(WholeEnergyOf(data, predicted, i))) {
      sizes[run.model].insert({run.batch_size, run.seq_len});
    }
  }
  return sizes;
}

// The largest that all of `models` have, by items times length, then by length.
std::optional<Size> LargestCommon(const std::map<std::string, std::set<Size>>& sizes,
                                  const std::vector<std::string>& models) {
  std::map<Size, size_t> count;
  for (const std::string& model : models) {
    const auto found = sizes.find(model);
    if (found == sizes.end()) continue;
    for (const Size& size : found->second) ++count[size];
  }
  std::optional<Size> best;
  auto key = [](const Size& size) { return std::make_pair(size.first * size.second, size.second); };
  for (const auto& [size, models_with_it] : count) {
    if (models_with_it == models.size() && (!best || key(size) > key(*best))) best = size;
  }
  return best;
}

void MarkFront(std::vector<Point>& points, bool predicted) {
  for (Point& point : points) {
    const std::optional<Joules> energy = EnergyOf(point, predicted);
    if (!energy) continue;
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const Point& other) {
      const std::optional<Joules> its = EnergyOf(other, predicted);
      return its && its <= energy && other.accuracy >= point.accuracy &&
             (its < energy || other.accuracy > point.accuracy);
    });
    (predicted ? point.optimal_predicted : point.optimal_measured) = !beaten;
  }
}

Tradeoff::Choice Choose(const std::vector<Point>& points, bool predicted,
                        const TradeoffOptions& options) {
  Tradeoff::Choice choice;
  choice.predicted = predicted;
  for (size_t i = 0; i < points.size(); ++i) {
    const std::optional<Joules> energy = EnergyOf(points[i], predicted);
    if (!energy) continue;
    auto better = [&](const std::optional<size_t>& than, bool accuracy_first) {
      if (!than) return true;
      const double more_accurate = points[i].accuracy - points[*than].accuracy;
      const double frugal = (*EnergyOf(points[*than], predicted) - *energy).value;
      const double first = accuracy_first ? more_accurate : frugal;
      return first > 0 || (first == 0 && (accuracy_first ? frugal : more_accurate) > 0);
    };
    if (options.budget && energy <= *options.budget && better(choice.within_budget, true)) {
      choice.within_budget = i;
    }
    if (options.target && points[i].accuracy >= *options.target &&
        better(choice.at_target, false)) {
      choice.at_target = i;
    }
  }
  return choice;
}

Result<Size> ChooseSize(const Dataset& data, const std::map<std::string, std::set<Size>>& sizes,
                        const std::vector<std::string>& models, const TradeoffOptions& options) {
  if (options.batch_size && options.seq_len && !sizes.empty()) {
    return Size{*options.batch_size, *options.seq_len};
  }
  if (const auto common = LargestCommon(sizes, models)) return *common;
  return InvalidError(fmt::format(
      "{}: no input size at which the energy of all {} models is known; choose one of {} (batch x "
      "sequence) with --batch and --seq",
      Printable(data.name), models.size(), SizesText(data)));
}

}  // namespace

Result<std::vector<ModelAccuracy>> ReadAccuracies(std::string_view text, const std::string& name,
                                                  std::vector<Note>& notes) {
  auto sheet = ReadSheet(std::string(text), name, {"model", "accuracy", "label"}, 2);
  if (!sheet) return sheet.error();
  std::vector<ModelAccuracy> accuracies;
  auto count = [&](Note note, const Sheet::Row& row) {
    note.first = fmt::format("{}:{}", name, row.line);
    CountNote(notes, note);
  };
  for (const Sheet::Row& row : sheet->rows) {
    const auto accuracy = ParseNumber(row.fields[1]);
    const std::string& model = row.fields[0];
    if (!accuracy || model.empty()) {
      count(NoteKind::kAccuracyNotUsed, row);
    } else if (std::any_of(accuracies.begin(), accuracies.end(),
                           [&](const auto& known) { return known.model == model; })) {
      count(NoteKind::kAccuracyRepeated, row);
    } else {
      accuracies.push_back({model, row.fields[2].empty() ? model : row.fields[2], *accuracy});
    }
  }
  if (accuracies.empty()) {
    return InvalidError(
        fmt::format("{}: no accuracies in it; expected lines of model,accuracy", Printable(name)));
  }
  const auto percent = static_cast<size_t>(std::count_if(
      accuracies.begin(), accuracies.end(), [](const auto& one) { return one.accuracy > 1; }));
  if (percent > 0 && percent < accuracies.size()) {
    Note& scales = notes.emplace_back(NoteKind::kAccuracyScales);
    scales.count = percent;
    scales.first = name;
  }
  return accuracies;
}

Result<Tradeoff> TradeOff(const Dataset& data, const std::vector<Column>& predicted,
                          const std::vector<ModelAccuracy>& accuracies,
                          const TradeoffOptions& options) {
  Tradeoff tradeoff;
  tradeoff.budget = options.budget;
  tradeoff.target = options.target;
  const std::vector<std::string> in_data = ModelsOf(data);
  std::vector<std::string> both;
  for (const ModelAccuracy& one : accuracies) {
    const bool has = std::count(in_data.begin(), in_data.end(), one.model) > 0;
    (has ? both : tradeoff.without_energy).push_back(one.model);
  }
  for (const std::string& model : in_data) {
    if (std::count(both.begin(), both.end(), model) == 0)
      tradeoff.without_accuracy.push_back(model);
  }
  if (both.empty()) {
    return InvalidError(
        fmt::format("no model is in both files: {} has '{}', the accuracies have "
                    "'{}'; the names have to be the same",
                    Printable(data.name), in_data.empty() ? "" : Printable(in_data.front()),
                    accuracies.empty() ? "" : Printable(accuracies.front().model)));
  }
  if (SizesOf(data, predicted, {}).empty()) return NoEnergyError(data, !predicted.empty());
  const auto sizes = SizesOf(data, predicted, options);
  const auto size = ChooseSize(data, sizes, both, options);
  if (!size) return size.error();
  std::tie(tradeoff.batch_size, tradeoff.seq_len) = *size;
  tradeoff.size_chosen = options.batch_size || options.seq_len;

  for (const ModelAccuracy& one : accuracies) {
    if (std::count(both.begin(), both.end(), one.model) == 0) continue;
    WholeEnergy energy;
    for (size_t i = 0; i < data.runs.size(); ++i) {
      const ModelRun& run = data.runs[i];
      if (run.model == one.model && Size{run.batch_size, run.seq_len} == *size) {
        energy = WholeEnergyOf(data, predicted, i);
      }
    }
    if (!IsKnown(energy)) {
      tradeoff.without_size.push_back(one.model);
      continue;
    }
    const TwoEnergies both_ways = {energy.measured, energy.predicted};
    tradeoff.points.push_back(
        {one.model, one.label, one.accuracy, both_ways, energy.low, energy.high, false, false});
  }
  if (tradeoff.points.empty()) {
    return InvalidError(fmt::format(
        "{}: no model with an accuracy has energy at {}; there are {} "
        "(batch x sequence)",
        Printable(data.name), SizeText(tradeoff.batch_size, tradeoff.seq_len), SizesText(data)));
  }
  auto known = [](const Point& point) {
    return point.energy.measured ? point.energy.measured : point.energy.predicted;
  };
  std::stable_sort(tradeoff.points.begin(), tradeoff.points.end(),
                   [&](const Point& a, const Point& b) { return known(a) < known(b); });
  for (const bool by_prediction : {false, true}) {
    if (std::all_of(tradeoff.points.begin(), tradeoff.points.end(),
                    [&](const Point& point) { return !EnergyOf(point, by_prediction); })) {
      continue;
    }
    MarkFront(tradeoff.points, by_prediction);
    tradeoff.choices.push_back(Choose(tradeoff.points, by_prediction, options));
  }
  return tradeoff;
}

}  // namespace beryl::learn
