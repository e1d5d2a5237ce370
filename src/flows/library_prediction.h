// Predictions in a library, and which entries need least.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.h"
#include "base/result.h"
#include "store/library.h"
#include "types/described_prediction.h"
#include "types/energy_use.h"
#include "types/library_entry.h"

namespace beryl::flows {

// Adds a prediction with its figures. `result`: what is shown of it, JSON; `said`: name, tags and
// notes of the user, and the request as a JSON object.
Result<store::AddedEntry> AddPredictionToLibrary(store::Library& library,
                                                 const DescribedPrediction& prediction,
                                                 std::string_view result, LibraryEntry said);

// The figures that entries can be sorted by.
const std::vector<std::string>& FigureNames();
// The entries that have this figure (of FigureNames), the least first, at most `most`.
Result<EntryList> RankLibrary(store::Library& library, const EntryFilter& filter,
                              std::string_view figure, size_t most);

// Accuracy against this figure of the entries that have both, at most 1000. Each is a model by its
// id, with its name as label.
Result<Tradeoff> TradeOffLibrary(store::Library& library, const EntryFilter& filter,
                                 std::string_view figure, const analyze::TradeoffOptions& options);

}  // namespace beryl::flows
