#include "learn/fit/leave_out.h"

#include <algorithm>

#include <fmt/format.h>

#include "learn/fit/held_out.h"
#include "learn/fit/intervals.h"

namespace beryl::learn {
namespace {

// What widens the predictions of one fit to intervals.
struct Calibrated {
  const EnergyModel* fit;
  std::array<ErrorBand, 3> bands;
  std::array<double, 3> noise_factors = {};
};

// `spread`: nothing if the method does not estimate it.
std::optional<Interval> IntervalOfNode(const Calibrated& by, const MeasuredRow& row,
                                       double predicted, const Uncertainty* spread) {
  const ErrorBand& band = by.bands[row.level];
  if (band.nodes == 0) return std::nullopt;
  if (spread != nullptr) return IntervalOf(predicted, *spread, by.noise_factors[row.level]);
  return IntervalOf(predicted, band, DoubtOf(*by.fit, row.features));
}

void AddLaw(const EnergyModel& fit, std::vector<std::string>& laws) {
  if (const EnergyLaw* law = fit.law()) laws.push_back(LawSentence(*law));
}

}  // namespace

Result<Outcome> LeaveModelsOut(const Measurements& all, const std::vector<Feature>& known,
                               const TrainOptions& options) {
  Outcome outcome;
  std::vector<EnergyModel> fits;  // by model
  std::vector<Uncertainty> uncertainties;
  auto predicted = TRY(PredictHeldOut(all, known, options, &fits, &uncertainties));
  outcome.predicted = std::move(predicted);
  std::vector<Calibrated> by_model;
  for (uint32_t model = 0; model < all.models.size(); ++model) {
    by_model.push_back({&fits[model], BandsOf(all, outcome.predicted, model, options.nominal)});
    AddLaw(fits[model], outcome.laws);
    if (uncertainties.empty()) continue;
    by_model.back().noise_factors =
        NoiseFactorsOf(all, outcome.predicted, uncertainties, model, options.nominal);
  }
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const MeasuredRow& row = all.rows[all.nodes[i].row];
    outcome.intervals.push_back(
        IntervalOfNode(by_model[row.model], row, outcome.predicted[i],
                       uncertainties.empty() ? nullptr : &uncertainties[i]));
  }
  return outcome;
}

Result<Outcome> TrainAndTest(const Dataset& data, const Measurements& test,
                             const TrainOptions& options) {
  auto model = TRY(TrainExpected(data, options));
  Outcome outcome;
  std::vector<Uncertainty> uncertainties;
  outcome.predicted =
      PredictNodes(model, test, ModelChoice(test.models.size(), true), &uncertainties);
  Calibrated calibrated{&model, model.bands};
  if (const DescribedModel* described = model.described()) {
    calibrated.noise_factors = described->noise_factors;
  }
  for (size_t i = 0; i < test.nodes.size(); ++i) {
    outcome.intervals.push_back(
        IntervalOfNode(calibrated, test.rows[test.nodes[i].row], outcome.predicted[i],
                       uncertainties.empty() ? nullptr : &uncertainties[i]));
  }
  AddLaw(model, outcome.laws);
  return outcome;
}

Result<Folds> FoldsOf(const Dataset& data, FoldBy by) {
  const bool families = by == FoldBy::kFamily;
  Folds folds;
  for (const ModelRun& run : data.runs) {
    std::string name = families ? run.lineage : InputText(run);
    if (families && name.empty()) {
      return InvalidError(fmt::format("{}: the family of {} is unknown, because it is not in the "
                                      "catalog (`beryl models` lists it); leave out models or "
                                      "sizes instead",
                                      data.name, run.model),
                          {"leave"});
    }
    if (!families && (run.batch_size.value_or(0) < 1 || run.seq_len.value_or(0) < 1)) {
      return InvalidError(fmt::format("{}: the batch size or length of a run of {} is unknown; "
                                      "leave out models or families instead",
                                      data.name, run.model),
                          {"leave"});
    }
    const auto at = std::find(folds.names.begin(), folds.names.end(), name);
    folds.of_run.push_back(static_cast<size_t>(at - folds.names.begin()));
    if (at == folds.names.end()) folds.names.push_back(std::move(name));
  }
  if (folds.names.size() < 2) {
    return InvalidError(
        fmt::format("{}: all its runs are of one {} ({}), so none can be left out; give more data, "
                    "or leave out something else",
                    data.name, families ? "family" : "size",
                    folds.names.empty() ? "none" : folds.names.front()),
        {"leave"});
  }
  return folds;
}

Result<Outcome> LeaveFoldsOut(const Dataset& data, const Measurements& all, const Folds& folds,
                              const TrainOptions& options) {
  Outcome outcome;
  outcome.predicted.assign(all.nodes.size(), kUnknown);
  outcome.intervals.resize(all.nodes.size());
  for (size_t fold = 0; fold < folds.names.size(); ++fold) {
    Dataset rest;
    Dataset left_out;
    rest.name = left_out.name = data.name;
    for (size_t run = 0; run < data.runs.size(); ++run) {
      (folds.of_run[run] == fold ? left_out : rest).runs.push_back(data.runs[run]);
    }
    const Measurements test = Gather(left_out);
    const auto of_fold = TrainAndTest(rest, test, options);
    if (!of_fold) return ErrorOf("without " + folds.names[fold], of_fold.error());
    auto tree = test.trees.begin();
    for (size_t run = 0; run < data.runs.size(); ++run) {
      if (folds.of_run[run] != fold) continue;
      const uint32_t begin = all.trees[run].begin;
      std::copy(of_fold->predicted.begin() + tree->begin, of_fold->predicted.begin() + tree->end,
                outcome.predicted.begin() + begin);
      std::copy(of_fold->intervals.begin() + tree->begin, of_fold->intervals.begin() + tree->end,
                outcome.intervals.begin() + begin);
      ++tree;
    }
    outcome.laws.insert(outcome.laws.end(), of_fold->laws.begin(), of_fold->laws.end());
  }
  return outcome;
}

}  // namespace beryl::learn
