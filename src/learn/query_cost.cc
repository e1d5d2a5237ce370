// What a million queries cost: IrEne's Table 3.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/embedded.h"
#include "learn/known_energy.h"
#include "learn/learn.h"
#include "learn/sheet.h"

namespace beryl::learn {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKilogram = 1e3;

void CountAt(const std::string& place, Note note, std::vector<Note>& notes) {
  note.first = place;
  CountNote(notes, note);
}

// Nothing in the field: not known. What is no number that a price or an emission can be: a note.
double Figure(const std::string& field, const std::string& place, std::vector<Note>& notes) {
  if (field.empty()) return kUnknown;
  const auto number = ParseNumber(field);
  if (number && *number >= 0) return *number;
  CountAt(place, NoteKind::kElectricityNotUsed, notes);
  return kUnknown;
}

QueryCosts::Row RowOf(const ModelRun& run, bool predicted, const WholeEnergy& energy,
                      const CostOptions& options) {
  QueryCosts::Row row;
  row.model = run.model;
  row.batch_size = run.batch_size;
  row.seq_len = run.seq_len;
  row.predicted = predicted;
  row.batch_energy = predicted ? energy.predicted : energy.measured;
  const double of_batch = run.batch_size > 0 ? options.passages / run.batch_size : kUnknown;
  const double kwh_of_joule = of_batch * options.queries / kJoulesPerKwh;
  row.query_energy = IfKnown<Joules>(ValueOrNan(row.batch_energy) * of_batch);
  row.kwh = ValueOrNan(row.batch_energy) * kwh_of_joule;
  if (predicted) {
    row.kwh_low = ValueOrNan(energy.low) * kwh_of_joule;
    row.kwh_high = ValueOrNan(energy.high) * kwh_of_joule;
  }
  row.price = row.kwh * options.electricity.price_per_kwh;
  row.co2e_kg = row.kwh * options.electricity.co2e_g_per_kwh / kGramsPerKilogram;
  return row;
}

}  // namespace

std::string_view BundledElectricity() { return embedded::kGrid; }

Result<std::vector<Electricity>> ReadElectricity(std::string_view text, const std::string& name,
                                                 std::vector<Note>& notes) {
  auto sheet = ReadSheet(std::string(text), name,
                         {"region", "price_per_kwh", "currency", "price_date", "price_source",
                          "co2e_g_per_kwh", "carbon_date", "carbon_source"},
                         8);
  if (!sheet) return sheet.error();
  std::vector<Electricity> regions;
  for (Sheet::Row& row : sheet->rows) {
    const std::string place = fmt::format("{}:{}", name, row.line);
    if (row.fields[0].empty()) {
      CountAt(place, NoteKind::kLineWithoutRegion, notes);
      continue;
    }
    regions.push_back({row.fields[0], Figure(row.fields[1], place, notes), row.fields[2],
                       row.fields[3], row.fields[4], Figure(row.fields[5], place, notes),
                       row.fields[6], row.fields[7]});
  }
  return regions;
}

Result<QueryCosts> CostQueries(const Dataset& data, const std::vector<Column>& predicted,
                               const CostOptions& options) {
  QueryCosts costs;
  costs.electricity = options.electricity;
  costs.queries = options.queries;
  costs.passages = options.passages;
  bool size_found = false;
  for (size_t i = 0; i < data.runs.size(); ++i) {
    const ModelRun& run = data.runs[i];
    if (run.batch_size != options.batch_size.value_or(run.batch_size)) continue;
    if (run.seq_len != options.seq_len.value_or(run.seq_len)) continue;
    size_found = true;
    const WholeEnergy energy = WholeEnergyOf(data, predicted, i);
    if (energy.measured) costs.rows.push_back(RowOf(run, false, energy, options));
    if (energy.predicted) costs.rows.push_back(RowOf(run, true, energy, options));
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

}  // namespace beryl::learn
