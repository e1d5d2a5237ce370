#include "learn/fit/held_out.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/parallel.h"

namespace beryl::learn {
namespace {

// Calls work(0) ... work(count - 1), at most `threads` at a time (0: one per core).
void ForEach(size_t count, int threads, const std::function<void(size_t)>& work) {
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const size_t wanted = threads > 0 ? static_cast<size_t>(threads) : cores;
  const size_t workers = std::min(wanted, count);
  std::atomic<size_t> next{0};
  InParallel(workers, [&](size_t) {
    for (size_t i = next++; i < count; i = next++) work(i);
  });
}

}  // namespace

Result<std::vector<double>> PredictHeldOut(const Measurements& all,
                                           const std::vector<Feature>& known,
                                           const TrainOptions& options,
                                           std::vector<EnergyModel>* models,
                                           std::vector<Uncertainty>* uncertainties) {
  const size_t count = all.models.size();
  std::vector<double> predicted(all.nodes.size(), kUnknown);
  std::vector<std::optional<Error>> errors(count);
  if (models != nullptr) models->resize(count);
  const bool has_uncertainties = uncertainties != nullptr && options.method == Method::kDescribe;
  if (has_uncertainties) uncertainties->resize(all.nodes.size());
  ForEach(count, options.threads.value_or(0), [&](size_t left_out) {
    ModelChoice others(count, true);
    others[left_out] = false;
    auto fitted = Fit(all, others, known, options);
    if (!fitted) {
      errors[left_out] = fitted.error();
      return;
    }
    ModelChoice only(count, false);
    only[left_out] = true;
    std::vector<Uncertainty> sure;
    const std::vector<double> joules = PredictNodes(*fitted, all, only, &sure);
    // No lock: folds write to different nodes.
    for (size_t i = 0; i < joules.size(); ++i) {
      if (all.rows[all.nodes[i].row].model != left_out) continue;
      predicted[i] = joules[i];
      if (has_uncertainties) (*uncertainties)[i] = sure[i];
    }
    if (models != nullptr) (*models)[left_out] = std::move(*fitted);
  });
  for (size_t model = 0; model < count; ++model) {
    if (!errors[model]) continue;
    return ErrorOf("without " + all.models[model], *errors[model]);
  }
  return predicted;
}

double PercentageError(double predicted, double measured) {
  return measured > 0 ? 100 * std::abs(predicted - measured) / measured : kUnknown;
}

double MapeOverModels(const Measurements& all, const std::vector<double>& predicted, size_t level) {
  std::vector<Mean> of_models(all.models.size());
  for (size_t i = 0; i < all.nodes.size(); ++i) {
    const MeasuredRow& row = all.rows[all.nodes[i].row];
    if (row.level == level) of_models[row.model].Add(PercentageError(predicted[i], row.measured));
  }
  Mean over_models;
  for (const Mean& mean : of_models) over_models.Add(mean.Get());
  return over_models.Get();
}

}  // namespace beryl::learn
