// The parameters that say how a run is accounted: the options of `beryl account`, under the same
// names.
#pragma once

#include <optional>
#include <string_view>

#include "flows/run_request.h"
#include "server/api/parameters.h"
#include "types/library_entry.h"
#include "types/op_trace.h"

namespace beryl::server {

flows::RunRequest AskForAccounting(Parameters& parameters);
// The part of the run: from, to (or another name for it), step.
flows::WindowRequest AskForWindow(Parameters& parameters, std::string_view to = "to");
std::optional<Phase> AskForPhase(Parameters& parameters);
// Entries to list to a client, of one kind.
EntryFilter AskForFilter(Parameters& parameters, EntryKind kind);
// Those that have energy: runs or predictions.
EntryFilter AskForRanked(Parameters& parameters);
PageRequest AskForPage(Parameters& parameters);
// What a client says of an entry to be added: name, tags and notes.
LibraryEntry AskForWords(Parameters& parameters);

}  // namespace beryl::server
