// A library as a folder: manifest.json and files/, to keep, or to add to another library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/library.h"

namespace beryl::flows {

struct LibraryTransfer {
  uint64_t entries = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t already_there = 0;  // entries that were not added again
};

// Writes all entries with their files, but no jobs. `folder` must be new or empty. The manifest
// comes last: a folder without one is not whole.
Result<LibraryTransfer> ExportLibrary(store::Library& library, const std::string& folder);

// Whether `folder` is one that ExportLibrary wrote.
bool IsLibraryExport(const std::string& folder);
// Adds its entries, with their ids and times. Those that are there already stay as they are. Every
// file is checked against its digest.
Result<LibraryTransfer> AddLibraryExport(store::Library& library, const std::string& folder);

// Writes the files of an entry into a folder, as they were given; returns where. Refuses to replace
// a file. Files with the same name, of ranks for example, get the names that FreeName gives.
Result<std::vector<std::string>> WriteLibraryFiles(store::Library& library, const std::string& id,
                                                   const std::string& folder);

}  // namespace beryl::flows
