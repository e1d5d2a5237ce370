// The library of the user, or one that is named.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/library.h"
#include "types/library_entry.h"

namespace beryl::flows {

// `given`; or else $BERYL_LIBRARY; or else beryl/library in $XDG_DATA_HOME or ~/.local/share.
std::string LibraryPlace(const std::string& given);

Result<std::unique_ptr<store::Library>> OpenLibrary(const std::string& given,
                                                    const store::LibraryOptions& options = {});

struct ListRequest {
  EntryFilter filter;
  // Of the filter, as text: 2026-11-18 or 2026-11-18T01:32:48Z; empty: as the filter says.
  std::string since;
  std::string until;
  PageRequest page;
};
// Entries of a library, with provenance, to be shown.
Result<EntryList> ListLibrary(store::Library& library, const ListRequest& request);
Result<LibraryGarbage> CollectLibraryGarbage(store::Library& library,
                                             const store::GarbageAges& ages);
Result<LibraryCheck> VerifyLibrary(
    store::Library& library, const std::function<void(uint64_t done, uint64_t total)>& watch = {});

}  // namespace beryl::flows
