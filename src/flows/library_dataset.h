// Data sets in a library: putting them there, and reading them again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/library.h"
#include "types/dataset.h"
#include "types/library_entry.h"

namespace beryl::flows {

// Adds a data set whose files have been kept: one file, or several that together are a folder
// (docs/data-sets.md). Checks that it can be read. One without a name gets that of its first file,
// and the model, if there is only one.
Result<store::AddedEntry> AddDatasetToLibrary(store::Library& library, LibraryEntry dataset);

// Reads a stored data set, as ReadData does (flows/read_data.h). It is called as its file was given
// or, if it has several, as the entry is.
Result<Dataset> ReadLibraryDataset(store::Library& library, const LibraryEntry& dataset,
                                   bool needs_energy, const std::vector<std::string>& models = {});

}  // namespace beryl::flows
