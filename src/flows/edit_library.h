// Adds to a library what a user names, and removes from it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "flows/read_run.h"
#include "flows/run_files.h"
#include "store/library.h"
#include "types/library_entry.h"

namespace beryl::flows {

struct AddedEntries {
  EntryList list;
  std::vector<std::string> already_there;  // ids in `list` that are not new
};
// Adds what `entry.kind` says: each run of `files` by itself, or all files as one profile or data
// set. The entries have what `entry` says of them.
Result<AddedEntries> AddToLibrary(store::Library& library, const RunFiles& files,
                                  const LibraryEntry& entry, const RunOptions& options);

// Removes nothing if one of the ids is unknown.
Result<EntryList> RemoveFromLibrary(store::Library& library, const std::vector<std::string>& ids);

}  // namespace beryl::flows
