// Predictions in a library, and who needs least.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/library.h"
#include "types/described_prediction.h"
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

}  // namespace beryl::flows
