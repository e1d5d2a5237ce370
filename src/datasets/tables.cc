// Small tables that accompany a data set: prices of electricity, accuracies.
#include <algorithm>

#include <fmt/format.h>

#include "base/sheet.h"
#include "base/text.h"
#include "datasets/datasets.h"
#include "datasets/embedded.h"

namespace beryl::datasets {
namespace {

void CountAt(const std::string& place, Note note, std::vector<Note>& notes) {
  note.first = place;
  CountNote(notes, note);
}

// An empty field is unknown. Text that cannot be a price or an emission also gives a note.
std::optional<double> Figure(const std::string& field, const std::string& place,
                             std::vector<Note>& notes) {
  if (field.empty()) return std::nullopt;
  const auto number = ParseNumber(field);
  if (number && *number >= 0) return *number;
  CountAt(place, NoteKind::kElectricityNotUsed, notes);
  return std::nullopt;
}

}  // namespace

std::string_view BundledElectricity() { return embedded::kGrid; }

Result<std::vector<Electricity>> ReadElectricity(std::string_view text, const std::string& name,
                                                 std::vector<Note>& notes) {
  auto sheet = TRY(ReadSheet(std::string(text), name,
                             {"region", "price_per_kwh", "currency", "price_date", "price_source",
                              "co2e_g_per_kwh", "carbon_date", "carbon_source"},
                             8));
  std::vector<Electricity> regions;
  for (Sheet::Row& row : sheet.rows) {
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

Result<std::vector<ModelAccuracy>> ReadAccuracies(std::string_view text, const std::string& name,
                                                  std::vector<Note>& notes) {
  auto sheet = TRY(ReadSheet(std::string(text), name, {"model", "accuracy", "label"}, 2));
  std::vector<ModelAccuracy> accuracies;
  auto count = [&](Note note, const Sheet::Row& row) {
    note.first = fmt::format("{}:{}", name, row.line);
    CountNote(notes, note);
  };
  for (const Sheet::Row& row : sheet.rows) {
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
        fmt::format("{}: it has no accuracies; expected lines of model,accuracy", Printable(name)));
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

}  // namespace beryl::datasets
