// Profiles in a library.
#pragma once

#include "base/result.h"
#include "store/library.h"
#include "types/energy_model.h"
#include "types/library_entry.h"

namespace beryl::flows {

// Adds a profile whose one file has been kept, as beryl train wrote it. Checks that it can be read,
// and takes name and machine from it where `profile` has none.
Result<store::AddedEntry> AddProfileToLibrary(store::Library& library, LibraryEntry profile);
// The entry that a job makes of what was learned; its file, as beryl train writes it, has been
// kept.
LibraryEntry ProfileEntry(const EnergyModel& model, const EntryFile& file, LibraryEntry said);
Result<EnergyModel> ReadLibraryProfile(store::Library& library, const LibraryEntry& profile);

}  // namespace beryl::flows
