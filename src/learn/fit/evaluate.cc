#include "learn/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "learn/fit/held_out.h"
#include "learn/fit/leave_out.h"

namespace beryl::learn {
namespace {

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

// Collects the errors of all seeds.
class Scores {
 public:
  Scores(const Measurements& all, const Folds& folds, Evaluation& evaluation)
      : all_(all), evaluation_(evaluation) {
    for (auto& by_model : by_model_) by_model.resize(all.models.size());
    by_type_.resize(all.types.size());
    evaluation_.folds = folds.names;
    for (auto& by_fold : by_fold_) {
      by_fold.assign(folds.names.size(), std::vector<Mean>(all.models.size()));
    }
    for (size_t run = 0; run < folds.of_run.size(); ++run) {
      fold_of_.resize(all.trees[run].end, folds.of_run[run]);
    }
  }

  void Add(const Outcome& outcome, uint64_t seed) {
    std::array<Mean, 3> nodes;
    for (size_t i = 0; i < all_.nodes.size(); ++i) {
      const MeasuredRow& row = all_.rows[all_.nodes[i].row];
      if (!(row.measured > 0)) continue;
      const double error = PercentageError(outcome.predicted[i], row.measured);
      if (std::isnan(error)) {
        ++unpredicted_[row.level];
        continue;
      }
      nodes[row.level].Add(error);
      errors_[row.level].push_back(error);
      by_model_[row.level][row.model].Add(error);
      if (!fold_of_.empty()) by_fold_[row.level][fold_of_[i]][row.model].Add(error);
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
      for (const std::vector<Mean>& of_models : by_fold_[level]) {
        Mean over_models;
        for (const Mean& mean : of_models) over_models.Add(mean.Get());
        errors.by_fold.push_back(over_models.Get());
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
  void AddInterval(const Outcome& outcome, const MeasuredRow& row, size_t node) {
    const auto& interval = outcome.intervals[node];
    if (!interval) return;
    const bool holds = interval->low <= row.measured && row.measured <= interval->high;
    covered_[row.level].Add(holds ? 1 : 0);
    width_[row.level].Add(100 * (interval->high - interval->low) / outcome.predicted[node]);
  }

  const Measurements& all_;
  Evaluation& evaluation_;
  std::vector<size_t> fold_of_;  // by node; empty if models are left out
  std::array<std::vector<Mean>, 3> by_model_;
  std::array<std::vector<std::vector<Mean>>, 3> by_fold_;  // by fold and model
  std::vector<Mean> by_type_;
  std::array<std::vector<double>, 3> errors_;
  std::array<uint64_t, 3> unpredicted_ = {};
  std::array<Mean, 3> covered_;
  std::array<Mean, 3> width_;
};

std::string_view ProtocolOf(const Dataset* test, FoldBy by) {
  if (test != nullptr) return "train-test";
  if (by == FoldBy::kFamily) return "leave-one-family-out";
  return by == FoldBy::kSize ? "leave-one-size-out" : "leave-one-model-out";
}

// Keeps only features that both data sets have; others cannot be learned from.
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

// Notes what could not be predicted: types of ML primitives that only the left-out model has, and
// the nodes that contain them.
void NoteUnpredicted(const Dataset& data, const Measurements& all,
                     const std::vector<double>& predicted, std::vector<Note>& notes) {
  std::map<std::string, Note> by_type;
  uint64_t above = 0;
  for (size_t run = 0; run < data.runs.size(); ++run) {
    const MeasuredTree& tree = all.trees[run];
    for (uint32_t i = tree.begin; i < tree.end; ++i) {
      const MeasuredRow& row = all.rows[all.nodes[i].row];
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

// The fits that one round takes.
uint64_t FitsOf(const Dataset& data, const Dataset* test, const Folds& folds,
                const TrainOptions& options) {
  const size_t models = ModelsOf(data).size();
  if (test != nullptr) return FitsToTrain(models, options);
  if (folds.names.empty()) return models;
  uint64_t fits = 0;
  for (size_t fold = 0; fold < folds.names.size(); ++fold) {
    std::set<std::string> others;
    for (size_t run = 0; run < data.runs.size(); ++run) {
      if (folds.of_run[run] != fold) others.insert(data.runs[run].model);
    }
    fits += FitsToTrain(others.size(), options);
  }
  return fits;
}

}  // namespace

Result<Evaluation> Evaluate(const Dataset& data, const Dataset* test, const TrainOptions& options,
                            uint64_t seeds, FoldBy fold_by) {
  const auto start = std::chrono::steady_clock::now();
  Evaluation evaluation;
  evaluation.method = options.method;
  evaluation.feature_set = options.features;
  evaluation.protocol = ProtocolOf(test, fold_by);
  evaluation.fold_by = fold_by;
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
  const bool by_model = test == nullptr && fold_by == FoldBy::kModel;
  if (by_model && all.models.size() < 2) {
    return InvalidError(
        fmt::format("{}: it has only one model ({}), so none can be left out; give more models, or "
                    "test it on other data",
                    data.name, all.models.empty() ? "none" : all.models.front()),
        {"test"});
  }
  TRY(CheckMethod(options.method, options.features, known));
  if (test != nullptr) NoteSharedModels(all, data, evaluation);

  if (std::none_of(all.rows.begin(), all.rows.end(),
                   [](const MeasuredRow& row) { return row.measured > 0; })) {
    return InvalidError(fmt::format("{}: it has no measured energy to test against", tested.name));
  }
  Folds folds;
  if (test == nullptr && !by_model) {
    folds = TRY(FoldsOf(data, fold_by));
    train_side = WithFeatures(data, known);
  }
  Scores scores(all, folds, evaluation);
  const uint64_t rounds = IsSeeded(options.method) ? std::max<uint64_t>(seeds, 1) : 1;
  if (options.watch != nullptr) options.watch->Expect(rounds * FitsOf(data, test, folds, options));
  for (uint64_t round = 0; round < rounds; ++round) {
    TrainOptions with_seed = options;
    with_seed.seed = options.seed + round;
    auto outcome = TRY(by_model          ? LeaveModelsOut(all, known, with_seed)
                       : test == nullptr ? LeaveFoldsOut(train_side, all, folds, with_seed)
                                         : TrainAndTest(train_side, all, with_seed));
    scores.Add(outcome, with_seed.seed);
    if (round == 0) NoteUnpredicted(tested, all, outcome.predicted, evaluation.notes);
    evaluation.laws.insert(evaluation.laws.end(), outcome.laws.begin(), outcome.laws.end());
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
  for (const auto& [method, name, seeded, use, help] : Methods()) {
    if (use == FeatureUse::kNone) continue;
    for (const FeatureSet features :
         {FeatureSet::kAll, FeatureSet::kResource, FeatureSet::kModel}) {
      if (use == FeatureUse::kOwn && features != FeatureSet::kResource) continue;
      if (!CheckMethod(method, features, known)) continue;
      TrainOptions each = options;
      each.method = method;
      each.features = features;
      auto evaluation = Evaluate(data, nullptr, each, seeds);
      if (evaluation) {
        ablation.evaluations.push_back(std::move(*evaluation));
      } else if (method == Method::kLaw) {
        return evaluation.error();  // what stops the law stops every method
      } else {
        ablation.notes.push_back({NoteKind::kMethodNotTried,
                                  std::string(name),
                                  {FeatureSetName(features), evaluation.error().message}});
      }
    }
  }
  return ablation;
}

}  // namespace beryl::learn
