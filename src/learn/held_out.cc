#include "learn/held_out.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace beryl::learn {

Result<std::vector<double>> PredictHeldOut(const Measurements& all,
                                           const std::vector<Feature>& known,
                                           const TrainOptions& options,
                                           std::vector<EnergyModel>* models,
                                           std::vector<Spread>* spreads) {
  const size_t count = all.models.size();
  std::vector<double> predicted(all.nodes.size(), kUnknown);
  std::vector<std::optional<Error>> errors(count);
  if (models != nullptr) models->resize(count);
  const bool has_spreads = spreads != nullptr && options.method == Method::kDescribe;
  if (has_spreads) spreads->resize(all.nodes.size());
  InParallel(count, options.threads, [&](size_t left_out) {
    ModelChoice others(count, true);
    others[left_out] = false;
    auto fitted = Fit(all, others, known, options);
    if (!fitted) {
      errors[left_out] = fitted.error();
      return;
    }
    ModelChoice only(count, false);
    only[left_out] = true;
    std::vector<Spread> sure;
    const std::vector<double> joules = PredictNodes(*fitted, all, only, &sure);
    // Folds write to different nodes.
    for (size_t i = 0; i < joules.size(); ++i) {
      if (all.rows[all.nodes[i].row].model != left_out) continue;
      predicted[i] = joules[i];
      if (has_spreads) (*spreads)[i] = sure[i];
    }
    if (models != nullptr) (*models)[left_out] = std::move(*fitted);
  });
  for (size_t model = 0; model < count; ++model) {
    if (!errors[model]) continue;
    return Error{errors[model]->code,
                 fmt::format("without {}: {}", all.models[model], errors[model]->message)};
  }
  return predicted;
}

double PercentageError(double predicted, double measured) {
  return measured > 0 ? 100 * std::abs(predicted - measured) / measured : kUnknown;
}

double MapeOverModels(const Measurements& all, const std::vector<double>& predicted, size_t level) {
  std::vector<double> sum(all.models.size(), 0);
  std::vector<double> count(all.models.size(), 0);
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const Measurement& row = all.rows[all.nodes[i].row];
    const double error = PercentageError(predicted[i], row.measured);
    if (row.level != level || std::isnan(error)) continue;
    sum[row.model] += error;
    count[row.model] += 1;
  }
  double total = 0;
  double models = 0;
  for (size_t model = 0; model < sum.size(); ++model) {
    if (count[model] == 0) continue;
    total += sum[model] / count[model];
    models += 1;
  }
  return models > 0 ? total / models : kUnknown;
}

}  // namespace beryl::learn
