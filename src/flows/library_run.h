// Runs in a library: putting them there, and reading them again for any analysis.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "flows/read_run.h"
#include "flows/run_files.h"
#include "store/library.h"
#include "types/library_entry.h"

namespace beryl::flows {

// What messages and results call a stored run: its run file, or those of its ranks,
// "r0.beryl+r1.beryl"; otherwise its name.
std::string NameOfFiles(const LibraryEntry& run);

// Keeps a file of the user as it is.
Result<EntryFile> KeepInLibrary(store::Library& library, const std::string& path, FileRole role);

// Adds a run whose files have been kept: `run` has them with names, roles and ranks, and what the
// user says of it. Checks that it can be read, and works out form, machine, origin and figures. A
// run without a name gets that of its first file.
Result<store::AddedEntry> AddRunToLibrary(store::Library& library, LibraryEntry run,
                                          const RunOptions& options);
// Keeps the files of one run, and adds it. They cannot be folders or standard input.
Result<store::AddedEntry> AddRunToLibrary(store::Library& library, const RunFiles& files,
                                          LibraryEntry run, const RunOptions& options);

// Reads a stored run. Files have the names under which they were given.
Result<RunInput> ReadLibraryRun(store::Library& library, const LibraryEntry& run,
                                const RunOptions& options);

}  // namespace beryl::flows
