#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "learn/held_out.h"
#include "learn/intervals.h"
#include "learn/law.h"

namespace beryl::learn {
namespace {

// What one seed's predictions come to.
struct Outcome {
  std::vector<double> predicted;                // by node
  std::vector<std::array<ErrorBand, 3>> bands;  // by model
  std::vector<EnergyModel> fits;                // by model; for what they leave in doubt
  // Of methods that can tell how sure each prediction is; else empty.
  std::vector<Spread> spreads;                       // by node
  std::vector<std::array<double, 3>> noise_factors;  // by model
};

std::vector<double> Percentiles(std::vector<double> values) {
  std::vector<double> found;
  if (values.empty()) return found;
  std::sort(values.begin(), values.end());
  for (size_t percent = 0; percent <= 100; ++percent) {
    const size_t below = (values.size() * percent + 99) / 100;
    found.push_back(values[below > 0 ? below - 1 : 0]);
  }
  return found;
}

// Adds up the errors of all seeds.
class Scores {
 public:
  Scores(const Measurements& all, Evaluation& evaluation) : all_(all), evaluation_(evaluation) {
    for (auto& by_model : by_model_) by_model.resize(all.models.size());
    by_type_.resize(all.types.size());
  }

  void Add(const Outcome& outcome, uint64_t seed) {
    std::array<Mean, 3> nodes;
    for (size_t i = 0; i < all_.nodes.size(); ++i) {
      const Measurement& row = all_.rows[all_.nodes[i].row];
      if (!(row.measured > 0)) continue;
      const double error = PercentageError(outcome.predicted[i], row.measured);
      if (std::isnan(error)) {
        ++unpredicted_[row.level];
        continue;
      }
      nodes[row.level].Add(error);
      errors_[row.level].push_back(error);
      by_model_[row.level][row.model].Add(error);
      if (row.level == kPrimitiveLevel) by_type_[row.type].Add(error);
      AddInterval(outcome, row, i);
    }
    Evaluation::Seed one;
    one.seed = seed;
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      one.mape_nodes[level] = nodes[level].Get();
      one.mape_models[level] = MapeOverModels(all_, outcome.predicted, level);
    }
    evaluation_.seeds.push_back(one);
  }

  void Finish() {
    const uint64_t seeds = evaluation_.seeds.size();
    for (size_t level = 0; level < kDataLevels.size(); ++level) {
      LevelErrors& errors = evaluation_.levels[level];
      Mean nodes;
      Mean models;
      for (const Evaluation::Seed& seed : evaluation_.seeds) {
        nodes.Add(seed.mape_nodes[level]);
        models.Add(seed.mape_models[level]);
        errors.range[0] = std::fmin(errors.range[0], seed.mape_models[level]);
        errors.range[1] = std::fmax(errors.range[1], seed.mape_models[level]);
      }
      errors.mape_nodes = nodes.Get();
      errors.mape_models = models.Get();
      for (size_t model = 0; model < all_.models.size(); ++model) {
        const Mean& mean = by_model_[level][model];
        if (mean.count() > 0) errors.by_model[all_.models[model]] = mean.Get();
      }
      errors.unpredicted = unpredicted_[level] / seeds;
      errors.nodes = errors_[level].size() / seeds;
      errors.coverage = covered_[level].Get();
      errors.mean_width_pct = width_[level].Get();
      errors.cdf = Percentiles(std::move(errors_[level]));
    }
    for (size_t type = 0; type < all_.types.size(); ++type) {
      if (by_type_[type].count() > 0) {
        evaluation_.by_operation[all_.type_names[type]] = by_type_[type].Get();
      }
    }
  }

 private:
  static Interval IntervalOfNode(const Outcome& outcome, const Measurement& row, size_t node) {
    const double predicted = outcome.predicted[node];
    if (!outcome.spreads.empty()) {
      return IntervalOf(predicted, outcome.spreads[node],
                        outcome.noise_factors[row.model][row.level]);
    }
    const ErrorBand& band = outcome.bands[row.model][row.level];
    return IntervalOf(predicted, band, DoubtOf(outcome.fits[row.model], row.features));
  }

  void AddInterval(const Outcome& outcome, const Measurement& row, size_t node) {
    if (outcome.bands[row.model][row.level].nodes == 0) return;
    const double predicted = outcome.predicted[node];
    const Interval interval = IntervalOfNode(outcome, row, node);
    covered_[row.level].Add(interval.low <= row.measured && row.measured <= interval.high ? 1 : 0);
    width_[row.level].Add(100 * (interval.high - interval.low) / predicted);
  }

  const Measurements& all_;
  Evaluation& evaluation_;
  std::array<std::vector<Mean>, 3> by_model_;
  std::vector<Mean> by_type_;
  std::array<std::vector<double>, 3> errors_;
  std::array<uint64_t, 3> unpredicted_ = {};
  std::array<Mean, 3> covered_;
  std::array<Mean, 3> width_;
};

// Every model by the others. The band of each is from how the others fared.
Result<Outcome> LeaveOneOut(const Measurements& all, const std::vector<Feature>& known,
                            const TrainOptions& options) {
  Outcome outcome;
  auto predicted = PredictHeldOut(all, known, options, &outcome.fits, &outcome.spreads);
  if (!predicted) return predicted.error();
  outcome.predicted = std::move(*predicted);
  for (uint32_t model = 0; model < all.models.size(); ++model) {
    outcome.bands.push_back(BandsOf(all, outcome.predicted, model, options.nominal));
    if (outcome.spreads.empty()) continue;
    outcome.noise_factors.push_back(
        NoiseFactorsOf(all, outcome.predicted, outcome.spreads, model, options.nominal));
  }
  return outcome;
}

Result<Outcome> TrainAndTest(const Dataset& data, const Measurements& test,
                             const TrainOptions& options) {
  auto model = Train(data, options);
  if (!model) return model.error();
  Outcome outcome;
  outcome.predicted =
      PredictNodes(*model, test, ModelChoice(test.models.size(), true), &outcome.spreads);
  outcome.bands.assign(test.models.size(), model->bands);
  outcome.fits.assign(test.models.size(), *model);
  if (model->described) {
    outcome.noise_factors.assign(test.models.size(), model->described->noise_factors);
  }
  return outcome;
}

// What only one side knows, no side can learn from.
Dataset WithFeatures(const Dataset& data, const std::vector<Feature>& features) {
  Dataset cut = data;
  for (ModelRun& run : cut.runs) {
    for (FeatureRow& row : run.features) {
      for (size_t i = 0; i < kFeatureCount; ++i) {
        if (!Has(features, static_cast<Feature>(i))) row[i] = kUnknown;
      }
    }
  }
  return cut;
}

void NoteSharedModels(const Measurements& tested, const Dataset& data, Evaluation& evaluation) {
  for (const std::string& model : ModelsOf(data)) {
    if (std::find(tested.models.begin(), tested.models.end(), model) == tested.models.end()) {
      continue;
    }
    Note shared(NoteKind::kTestedOnTraining);
    shared.first = model;
    CountNote(evaluation.notes, shared);
  }
}

// What could not be predicted: types of ML primitives that only the model left out has, and so what
// contains them.
void NoteUnpredicted(const Dataset& data, const Measurements& all,
                     const std::vector<double>& predicted, std::vector<Note>& notes) {
  std::map<std::string, Note> by_type;
  uint64_t above = 0;
  for (size_t run = 0; run < data.runs.size(); ++run) {
    const MeasuredTree& tree = all.trees[run];
    for (uint32_t i = tree.begin; i < tree.end; ++i) {
      const Measurement& row = all.rows[all.nodes[i].row];
      if (!(row.measured > 0) || !std::isnan(predicted[i])) continue;
      if (row.level != kPrimitiveLevel) {
        ++above;
        continue;
      }
      const std::string& type = all.type_names[row.type];
      const auto [place, is_new] = by_type.try_emplace(type, NoteKind::kTypeNotTrained, type);
      if (is_new) {
        place->second.first = PlaceOf(data, data.runs[run], i - tree.begin);
      } else {
        ++place->second.count;
      }
    }
  }
  for (const auto& [type, note] : by_type) notes.push_back(note);
  if (above > 0) notes.emplace_back(NoteKind::kContainsNotTrained).count = above;
}

}  // namespace

Result<Evaluation> Evaluate(const Dataset& data, const Dataset* test, const TrainOptions& options,
                            uint64_t seeds) {
  const auto start = std::chrono::steady_clock::now();
  Evaluation evaluation;
  evaluation.method = options.method;
  evaluation.feature_set = options.features;
  evaluation.protocol = test == nullptr ? "leave-one-model-out" : "train-test";
  evaluation.train_data = data.name;
  evaluation.nominal = options.nominal;
  evaluation.notes = data.notes;
  std::vector<Feature> known = KnownFeatures(data);
  Dataset train_side;
  if (test != nullptr) {
    evaluation.test_data = test->name;
    AppendNotes(evaluation.notes, test->notes);
    const std::vector<Feature> in_test = KnownFeatures(*test);
    std::erase_if(known, [&](Feature feature) { return !Has(in_test, feature); });
    train_side = WithFeatures(data, known);
  }
  const Dataset& tested = test == nullptr ? data : *test;
  const Measurements all = Gather(tested);
  if (test == nullptr && all.models.size() < 2) {
    return InvalidError(fmt::format(
        "{}: there is only one model ({}), so there is nothing to leave out; give more models, or "
        "test it on other data with --test",
        data.name, all.models.empty() ? "none" : all.models.front()));
  }
  if (auto ok = CheckMethod(options.method, options.features, known); !ok) return ok.error();
  if (test != nullptr) NoteSharedModels(all, data, evaluation);

  if (std::none_of(all.rows.begin(), all.rows.end(),
                   [](const Measurement& row) { return row.measured > 0; })) {
    return InvalidError(
        fmt::format("{}: no measured energy in it, so there is nothing to test by", tested.name));
  }
  Scores scores(all, evaluation);
  const uint64_t rounds = IsSeeded(options.method) ? std::max<uint64_t>(seeds, 1) : 1;
  for (uint64_t round = 0; round < rounds; ++round) {
    TrainOptions with_seed = options;
    with_seed.seed = options.seed + round;
    const auto outcome = test == nullptr ? LeaveOneOut(all, known, with_seed)
                                         : TrainAndTest(train_side, all, with_seed);
    if (!outcome) return outcome.error();
    scores.Add(*outcome, with_seed.seed);
    if (round == 0) NoteUnpredicted(tested, all, outcome->predicted, evaluation.notes);
    if (options.method == Method::kLaw) {
      const size_t folds = test == nullptr ? outcome->fits.size() : 1;
      for (size_t fold = 0; fold < folds; ++fold) {
        evaluation.laws.push_back(LawSentence(outcome->fits[fold].law));
      }
    }
  }
  scores.Finish();
  evaluation.duration = {
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return evaluation;
}

Result<Ablation> Ablate(const Dataset& data, const TrainOptions& options, uint64_t seeds) {
  Ablation ablation;
  ablation.notes = data.notes;
  const std::vector<Feature> known = KnownFeatures(data);
  for (const Method method : {Method::kLaw, Method::kEnd2End, Method::kStepwise, Method::kSum,
                              Method::kUnstructured, Method::kBaseline}) {
    for (const FeatureSet features :
         {FeatureSet::kAll, FeatureSet::kResource, FeatureSet::kModel}) {
      // These two look at the same few features of a run, whatever the set.
      const bool fixed = method == Method::kLaw || method == Method::kBaseline;
      if (fixed && features != FeatureSet::kResource) continue;
      if (!CheckMethod(method, features, known)) continue;
      TrainOptions each = options;
      each.method = method;
      each.features = features;
      auto evaluation = Evaluate(data, nullptr, each, seeds);
      if (evaluation) {
        ablation.evaluations.push_back(std::move(*evaluation));
      } else if (method == Method::kLaw) {
        return evaluation.error();  // what stops the law stops all
      } else {
        ablation.notes.push_back({NoteKind::kMethodNotTried,
                                  std::string(MethodName(method)),
                                  {FeatureSetName(features), evaluation.error().message}});
      }
    }
  }
  return ablation;
}

}  // namespace beryl::learn
