// Accuracy against energy: IrEne's Figure 4.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/known_energy.h"
#include "base/text.h"

namespace beryl::analyze {
namespace {

using Point = Tradeoff::Point;

std::optional<Joules> EnergyOf(const Point& point, bool predicted) {
  return predicted ? point.energy.predicted : point.energy.measured;
}

bool IsKnown(const WholeEnergy& energy) { return energy.measured || energy.predicted; }

// By model: the sizes with known energy that the options allow.
std::map<std::string, std::set<InputSize>> SizesOf(const Dataset& data,
                                                   const std::vector<Column>& predicted,
                                                   const TradeoffOptions& options) {
  std::map<std::string, std::set<InputSize>> sizes;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const ModelRun& run = data.runs[i];
    if (options.batch_size && run.batch_size != options.batch_size) continue;
    if (options.seq_len && run.seq_len != options.seq_len) continue;
    if (IsKnown(WholeEnergyOf(data, predicted, i))) {
      sizes[run.model].insert({run.batch_size, run.seq_len});
    }
  }
  return sizes;
}

// The largest size that all of `models` have, by batch size times length, then by length.
std::optional<InputSize> LargestCommon(const std::map<std::string, std::set<InputSize>>& sizes,
                                       const std::vector<std::string>& models) {
  std::map<InputSize, size_t> count;
  for (const std::string& model : models) {
    const auto found = sizes.find(model);
    if (found == sizes.end()) continue;
    for (const InputSize& size : found->second) ++count[size];
  }
  std::optional<InputSize> best;
  auto key = [](const InputSize& size) {
    const double length = size.second.value_or(0);
    return std::make_pair(size.first.value_or(0) * length, length);
  };
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

Result<InputSize> ChooseSize(const Dataset& data,
                             const std::map<std::string, std::set<InputSize>>& sizes,
                             const std::vector<std::string>& models,
                             const TradeoffOptions& options) {
  if (options.batch_size && options.seq_len && !sizes.empty()) {
    return InputSize{*options.batch_size, *options.seq_len};
  }
  if (const auto common = LargestCommon(sizes, models)) return *common;
  return InvalidError(fmt::format("{}: no input size at which the energy of all {} models is "
                                  "known; choose one of {} (batch x "
                                  "sequence)",
                                  Printable(data.name), models.size(), SizesText(data)),
                      {"batch", "seq"});
}

}  // namespace

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
                    "'{}'; the names must be the same",
                    Printable(data.name), in_data.empty() ? "" : Printable(in_data.front()),
                    accuracies.empty() ? "" : Printable(accuracies.front().model)));
  }
  if (SizesOf(data, predicted, {}).empty()) return NoEnergyError(data, !predicted.empty());
  const auto sizes = SizesOf(data, predicted, options);
  const auto size = TRY(ChooseSize(data, sizes, both, options));
  std::tie(tradeoff.batch_size, tradeoff.seq_len) = size;
  tradeoff.size_chosen = options.batch_size || options.seq_len;

  for (const ModelAccuracy& one : accuracies) {
    if (std::count(both.begin(), both.end(), one.model) == 0) continue;
    WholeEnergy energy;
    for (size_t i = 0; i < data.runs.size(); ++i) {
      const ModelRun& run = data.runs[i];
      if (run.model == one.model && InputSize{run.batch_size, run.seq_len} == size) {
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
    return InvalidError(
        fmt::format("{}: no model with an accuracy has energy at {}; there are {} "
                    "(batch x sequence)",
                    Printable(data.name), SizeText(size), SizesText(data)));
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

}  // namespace beryl::analyze
