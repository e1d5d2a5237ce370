// The cost of a million queries: IrEne's Table 3.
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/known_energy.h"
#include "base/text.h"

namespace beryl::analyze {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKilogram = 1e3;

// What so many times the energy costs.
EnergyPrice PriceOf(double times, const std::array<std::optional<Joules>, 3>& energy_low_high,
                    const Electricity& electricity) {
  EnergyPrice cost;
  std::optional<double>* const kwh[] = {&cost.kwh, &cost.kwh_low, &cost.kwh_high};
  for (size_t i = 0; i < energy_low_high.size(); ++i) {
    if (const auto& energy = energy_low_high[i]) *kwh[i] = energy->value * times / kJoulesPerKwh;
  }
  const auto rated = [&](std::optional<double> per_kwh) -> std::optional<double> {
    if (!cost.kwh || !per_kwh) return std::nullopt;
    return *cost.kwh * *per_kwh;
  };
  cost.price = rated(electricity.price_per_kwh);
  cost.co2e_kg = rated(electricity.co2e_g_per_kwh);
  if (cost.co2e_kg) *cost.co2e_kg /= kGramsPerKilogram;
  return cost;
}

// `row` identifies the run; the function fills in the rest.
QueryCosts::Row RowOf(QueryCosts::Row row, bool predicted, const WholeEnergy& energy,
                      const CostOptions& options) {
  row.predicted = predicted;
  row.batch_energy = predicted ? energy.predicted : energy.measured;
  if (!row.batch_size) return row;
  const double of_batch = options.passages / *row.batch_size;
  if (row.batch_energy) row.query_energy = *row.batch_energy * of_batch;
  const auto bound = [&](std::optional<Joules> value) { return predicted ? value : std::nullopt; };
  row.cost =
      PriceOf(of_batch * options.queries, {row.batch_energy, bound(energy.low), bound(energy.high)},
              options.electricity);
  return row;
}

QueryCosts Begin(const CostOptions& options) {
  QueryCosts costs;
  costs.electricity = options.electricity;
  costs.queries = options.queries;
  costs.passages = options.passages;
  return costs;
}

}  // namespace

MeasuredCosts CostMeasurement(const Measurement& measured, const Electricity& electricity) {
  const auto price = [&](std::optional<Joules> energy, std::optional<Joules> low,
                         std::optional<Joules> high) {
    return PriceOf(1, {energy, low, high}, electricity);
  };
  const TotalEnergy& total = measured.total;
  MeasuredCosts costs{electricity, {}, price(total.energy, total.low, total.high)};
  if (total.all_split) costs.ours = price(total.ours, total.ours_low, total.ours_high);
  return costs;
}

QueryCosts CostQueries(const DescribedPrediction& prediction, const CostOptions& options) {
  QueryCosts costs = Begin(options);
  const Description& description = prediction.description;
  QueryCosts::Row row;
  row.model = description.model;
  row.batch_size = KnownSize(static_cast<double>(description.input.batch));
  row.seq_len = KnownSize(static_cast<double>(description.input.seq));
  costs.rows = {RowOf(std::move(row), true, WholeEnergyOf(prediction.energy), options)};
  costs.origin.predicted_by = prediction.profile;
  return costs;
}

Result<QueryCosts> CostQueries(const Dataset& data, const std::vector<Column>& predicted,
                               const CostOptions& options) {
  QueryCosts costs = Begin(options);
  bool size_found = false;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const ModelRun& run = data.runs[i];
    if (options.batch_size && run.batch_size != options.batch_size) continue;
    if (options.seq_len && run.seq_len != options.seq_len) continue;
    size_found = true;
    const WholeEnergy energy = WholeEnergyOf(data, predicted, i);
    for (const bool is_predicted : {false, true}) {
      if (!(is_predicted ? energy.predicted : energy.measured)) continue;
      QueryCosts::Row row;
      row.model = run.model;
      row.batch_size = run.batch_size;
      row.seq_len = run.seq_len;
      costs.rows.push_back(RowOf(std::move(row), is_predicted, energy, options));
    }
  }
  if (!size_found && !data.runs.empty()) {
    return InvalidError(
        fmt::format("{}: no run of this batch size and sequence length; there are "
                    "{} (batch x sequence)",
                    Printable(data.name), SizesText(data)));
  }
  if (costs.rows.empty()) return NoEnergyError(data, !predicted.empty());
  return costs;
}

}  // namespace beryl::analyze
