#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "learn/evaluate.h"
#include "learn/fit/held_out.h"
#include "learn/fit/intervals.h"
#include "learn/methods/law.h"

namespace beryl::learn {
namespace {

// With more rows than this, each fold leaves out several.
constexpr size_t kMostFolds = 50;

// Draws `count` elements of `from` with equal probability, in random order.
std::vector<uint32_t> Draw(std::vector<uint32_t> from, uint64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < count; ++i) {
    const size_t left = from.size() - i;
    std::swap(from[i], from[i + random() % left]);
  }
  from.resize(count);
  return from;
}

// Measured / predicted for each row, with a law fitted to the others.
std::vector<double> LeftOutRatios(const Measurements& all, const std::vector<uint32_t>& rows,
                                  const LawTerms& terms) {
  std::vector<double> ratios;
  const size_t folds = std::min(rows.size(), kMostFolds);
  for (size_t fold = 0; fold < folds; ++fold) {
    std::vector<uint32_t> others;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i % folds != fold) others.push_back(rows[i]);
    }
    const EnergyLaw law = FitLaw(all, others, terms);
    for (size_t i = fold; i < rows.size(); i += folds) {
      const MeasuredRow& row = all.rows[rows[i]];
      ratios.push_back(row.measured / Apply(law, row.features));
    }
  }
  return ratios;
}

double Percentile(std::vector<double> values, double share) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return kUnknown;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

class Calibrator {
 public:
  Calibrator(const Dataset& data, Measurements all, LawTerms terms)
      : data_(data), all_(std::move(all)), terms_(terms), features_(FeaturesOf(terms)) {
    for (uint32_t i = 0; i < all_.rows.size(); ++i) {
      const MeasuredRow& row = all_.rows[i];
      if (row.level == kPrimitiveLevel && row.measured > 0 && KnowsAll(row.features, features_)) {
        candidates_.push_back(i);
      }
    }
  }

  size_t candidates() const { return candidates_.size(); }

  void FirstDraw(Calibration& calibration) {
    const std::vector<uint32_t> rows = Draw(candidates_, calibration.rows, calibration.seed);
    EnergyModel& model = calibration.model;
    model.method = Method::kLaw;
    model.features = features_;
    model.learned = FitLaw(all_, rows, terms_);
    model.trained_on.data = data_.name;
    model.trained_on.models = all_.models;
    model.trained_on.nodes = rows.size();
    const std::vector<double> ratios = LeftOutRatios(all_, rows, terms_);
    model.bands.fill(BandOf(ratios, model.nominal));
    double off = 0;
    for (const double ratio : ratios) off += 100 * std::abs(1 / ratio - 1);
    calibration.expected = off / static_cast<double>(ratios.size());
    calibration.mape = Test(model, rows);
    calibration.chosen = NamesOf(rows);
  }

  std::array<double, 3> TestDraw(uint64_t count, uint64_t seed) const {
    const std::vector<uint32_t> rows = Draw(candidates_, count, seed);
    EnergyModel model;
    model.learned = FitLaw(all_, rows, terms_);
    return Test(model, rows);
  }

 private:
  // Tests on all nodes except those used for the fit.
  std::array<double, 3> Test(const EnergyModel& model, const std::vector<uint32_t>& rows) const {
    std::vector<double> predicted =
        PredictNodes(model, all_, ModelChoice(all_.models.size(), true));
    std::vector<bool> fitted(all_.rows.size(), false);
    for (const uint32_t row : rows) fitted[row] = true;
    for (size_t i = 0; i < predicted.size(); ++i) {
      if (fitted[all_.nodes[i].row]) predicted[i] = kUnknown;
    }
    std::array<double, 3> mape;
    for (size_t level = 0; level < mape.size(); ++level) {
      mape[level] = MapeOverModels(all_, predicted, level);
    }
    return mape;
  }

  // The first node of each row.
  std::vector<std::string> NamesOf(const std::vector<uint32_t>& rows) const {
    std::vector<std::string> names(rows.size());
    for (size_t run = 0; run < all_.trees.size(); ++run) {
      const MeasuredTree& tree = all_.trees[run];
      for (uint32_t i = tree.begin; i < tree.end; ++i) {
        const auto at = std::find(rows.begin(), rows.end(), all_.nodes[i].row);
        if (at == rows.end()) continue;
        std::string& name = names[static_cast<size_t>(at - rows.begin())];
        const ModelRun& model_run = data_.runs[run];
        if (name.empty()) {
          name = fmt::format("{} {} {}", model_run.model, InputText(model_run),
                             ScopeOf(model_run.tree, i - tree.begin));
        }
      }
    }
    return names;
  }

  const Dataset& data_;
  Measurements all_;
  LawTerms terms_;
  std::vector<Feature> features_;
  std::vector<uint32_t> candidates_;
};

}  // namespace

Result<Calibration> Calibrate(const Dataset& data, uint64_t rows, uint64_t seed, uint64_t draws) {
  const std::vector<Feature> known = KnownFeatures(data);
  TRY(CheckMethod(Method::kLaw, FeatureSet::kAll, known));
  const LawTerms terms = TermsOf(known);
  if (rows <= terms.needed()) {
    return MisuseError(
        fmt::format("{} rows are too few: the law has {} terms, and at least one more row is "
                    "needed to estimate its error; 8 are a good start",
                    rows, terms.needed()));
  }
  Calibrator calibrator(data, Gather(data), terms);
  if (calibrator.candidates() < rows) {
    return InvalidError(
        fmt::format("{} has {} distinct measurements at ML level, fewer than the {} asked for",
                    data.name, calibrator.candidates(), rows));
  }
  Calibration calibration;
  calibration.data = data.name;
  calibration.rows = rows;
  calibration.seed = seed;
  calibration.draws = std::max<uint64_t>(draws, 1);
  calibration.notes = data.notes;
  calibrator.FirstDraw(calibration);
  std::array<std::vector<double>, 3> errors;
  for (uint64_t draw = 0; draw < calibration.draws; ++draw) {
    const std::array<double, 3> mape = calibrator.TestDraw(rows, seed + draw);
    for (size_t level = 0; level < mape.size(); ++level) errors[level].push_back(mape[level]);
  }
  for (size_t level = 0; level < errors.size(); ++level) {
    calibration.median[level] = Percentile(errors[level], 0.5);
    calibration.p95[level] = Percentile(errors[level], 0.95);
  }
  return calibration;
}

}  // namespace beryl::learn
