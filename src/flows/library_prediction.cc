#include "flows/library_prediction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "types/dataset.h"

namespace beryl::flows {
namespace {

constexpr int kLargestPage = 1000;
constexpr size_t kMostInTradeoff = 1000;

std::optional<double> IfKnown(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}
std::optional<double> IfKnown(const std::optional<Joules>& energy) {
  return energy ? std::optional(energy->value) : std::nullopt;
}

// Nothing: there is no such figure, or it is not known.
std::optional<double> FigureOf(const LibraryEntry& entry, std::string_view figure) {
#define BERYL_ENTRY_FIGURE(name) \
  if (figure == #name) return entry.figures.name;
  BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  return std::nullopt;
}

// The entries that have what they are sorted by, the least first.
using SortedBy = std::function<std::optional<double>(const LibraryEntry&)>;
Result<EntryList> RankEntries(store::Library& library, const EntryFilter& filter, size_t most,
                              const SortedBy& by) {
  EntryList list;
  list.provenance = MakeProvenance({library.name()});
  std::vector<LibraryEntry>& entries = list.page.entries;
  // Only the best are kept, so that a large library does not fill the memory.
  const auto keep_best = [&] {
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const LibraryEntry& a, const LibraryEntry& b) { return *by(a) < *by(b); });
    if (entries.size() > most)
      entries.erase(entries.begin() + static_cast<int64_t>(most), entries.end());
  };
  PageRequest request;
  request.size = kLargestPage;
  do {
    EntryPage page = TRY(library.List(filter, request));
    for (LibraryEntry& entry : page.entries) {
      if (by(entry)) entries.push_back(std::move(entry));
    }
    keep_best();
    request.token = page.next_token;
  } while (!request.token.empty());
  return list;
}

// As a prediction of a data set; the interval is of the energy.
Column PredictedFigure(const LibraryEntry& entry, std::string_view figure, double value) {
  Column column;
  column.total = {value};
  if (figure == "energy_j" && entry.figures.low_j && entry.figures.high_j) {
    column.low = {*entry.figures.low_j};
    column.high = {*entry.figures.high_j};
  }
  return column;
}

}  // namespace

Result<store::AddedEntry> AddPredictionToLibrary(store::Library& library,
                                                 const DescribedPrediction& prediction,
                                                 std::string_view result, LibraryEntry said) {
  said.kind = EntryKind::kPrediction;
  said.model = prediction.description.model;
  said.machine = prediction.machine;
  said.profile = prediction.profile;
  if (said.name.empty()) said.name = said.model;
  said.origin = prediction.energy.origin;
  EntryFigures& figures = said.figures;
  figures.energy_j = IfKnown(At(prediction.energy.total, 0));
  figures.low_j = IfKnown(At(prediction.energy.low, 0));
  figures.high_j = IfKnown(At(prediction.energy.high, 0));
  figures.duration_s = IfKnown(At(prediction.seconds, 0));
  figures.per_token_j = IfKnown(EnergyPerToken(prediction, 0));
  figures.parameters = static_cast<double>(prediction.description.nodes[0].parameters);
  if (prediction.costs && !prediction.costs->rows.empty()) {
    figures.per_query_j = IfKnown(prediction.costs->rows.front().query_energy);
  }
  EntryFile file;
  file.stored = TRY(library.KeepFile(result));
  file.name = "prediction.json";
  file.role = FileRole::kResult;
  file.media_type = "application/json";
  said.files = {std::move(file)};
  return library.Add(std::move(said));
}

const std::vector<std::string>& FigureNames() {
  static const std::vector<std::string>& names = *new std::vector<std::string>{
#define BERYL_ENTRY_FIGURE(name) #name,
      BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  };
  return names;
}

Result<EntryList> RankLibrary(store::Library& library, const EntryFilter& filter,
                              std::string_view figure, size_t most) {
  return RankEntries(library, filter, most,
                     [&](const LibraryEntry& entry) { return FigureOf(entry, figure); });
}

Result<Tradeoff> TradeOffLibrary(store::Library& library, const EntryFilter& filter,
                                 std::string_view figure, const analyze::TradeoffOptions& options) {
  const EntryList list =
      TRY(RankEntries(library, filter, kMostInTradeoff, [&](const LibraryEntry& entry) {
        return entry.figures.accuracy ? FigureOf(entry, figure) : std::nullopt;
      }));
  if (list.page.entries.empty()) {
    return InvalidError(fmt::format(
        "no such entry has both an accuracy and {}; change an entry to give it its accuracy",
        figure));
  }
  Dataset data;
  data.name = library.name();
  std::vector<Column> predicted;
  std::vector<ModelAccuracy> accuracies;
  std::vector<std::string> profiles;
  EnergyOrigin origin;
  for (const LibraryEntry& entry : list.page.entries) {
    const bool is_predicted = entry.kind == EntryKind::kPrediction;
    const double value = *FigureOf(entry, figure);
    ModelRun run;
    run.model = entry.id;
    if (!is_predicted) run.measured = {value};
    data.runs.push_back(std::move(run));
    predicted.push_back(is_predicted ? PredictedFigure(entry, figure, value) : Column());
    accuracies.push_back({entry.id, entry.name, *entry.figures.accuracy});
    origin.measured = origin.measured || !is_predicted;
    if (is_predicted) profiles.push_back(entry.profile.empty() ? "unknown" : entry.profile);
  }
  std::sort(profiles.begin(), profiles.end());
  profiles.erase(std::unique(profiles.begin(), profiles.end()), profiles.end());
  origin.predicted_by = fmt::format("{}", fmt::join(profiles, ","));
  origin.provenance = MakeProvenance({library.name()}, origin.predicted_by);
  origin.data = library.name();
  auto tradeoff = TRY(analyze::TradeOff(data, predicted, accuracies, options));
  tradeoff.origin = std::move(origin);
  tradeoff.accuracy_file = library.name();
  return tradeoff;
}

}  // namespace beryl::flows
