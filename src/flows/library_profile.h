// Profiles and data sets in a library.
#pragma once

#include "base/result.h"
#include "store/library.h"
#include "types/energy_model.h"
#include "types/library_entry.h"

namespace beryl::flows {

// Adds a profile whose one file has been kept, as beryl train wrote it. Checks that it can be read,
// and takes name and machine from it where `profile` has none.
Result<store::AddedEntry> AddProfileToLibrary(store::Library& library, LibraryEntry profile);
Result<EnergyModel> ReadLibraryProfile(store::Library& library, const LibraryEntry& profile);

// Adds a data set whose files have been kept. What is in them is checked when they are used.
Result<store::AddedEntry> AddDatasetToLibrary(store::Library& library, LibraryEntry dataset);

}  // namespace beryl::flows
