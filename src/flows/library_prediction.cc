#include "flows/library_prediction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace beryl::flows {
namespace {

constexpr int kLargestPage = 1000;

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
  EntryList list;
  list.provenance = MakeProvenance({library.name()});
  std::vector<LibraryEntry>& entries = list.page.entries;
  // Only the best are kept, so that a large library does not fill the memory.
  const auto keep_best = [&] {
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const LibraryEntry& a, const LibraryEntry& b) {
                       return *FigureOf(a, figure) < *FigureOf(b, figure);
                     });
    if (entries.size() > most)
      entries.erase(entries.begin() + static_cast<int64_t>(most), entries.end());
  };
  PageRequest request;
  request.size = kLargestPage;
  do {
    EntryPage page = TRY(library.List(filter, request));
    for (LibraryEntry& entry : page.entries) {
      if (FigureOf(entry, figure)) entries.push_back(std::move(entry));
    }
    keep_best();
    request.token = page.next_token;
  } while (!request.token.empty());
  return list;
}

}  // namespace beryl::flows
