#include "flows/edit_library.h"

#include <algorithm>
#include <utility>

#include "flows/library_dataset.h"
#include "flows/library_profile.h"
#include "flows/library_run.h"

namespace beryl::flows {
namespace {

Result<store::AddedEntry> AddFiles(store::Library& library, const RunFiles& files,
                                   LibraryEntry entry) {
  for (const std::string& file : files.All()) {
    entry.files.push_back(TRY(KeepInLibrary(library, file, FileRole::kOther)));
  }
  const auto add = entry.kind == EntryKind::kProfile ? AddProfileToLibrary : AddDatasetToLibrary;
  return add(library, std::move(entry));
}

}  // namespace

Result<AddedEntries> AddToLibrary(store::Library& library, const RunFiles& files,
                                  const LibraryEntry& entry, const RunOptions& options) {
  AddedEntries added;
  added.list.provenance = MakeProvenance({library.name()});
  const auto take = [&](store::AddedEntry one) {
    if (!one.is_new) added.already_there.push_back(one.entry.id);
    added.list.page.entries.push_back(std::move(one.entry));
  };
  if (entry.kind != EntryKind::kRun) {
    take(TRY(AddFiles(library, files, entry)));
    return added;
  }
  TRY(CheckRunFiles(files));
  RunFiles one = files;
  for (size_t i = 0; i < std::max<size_t>(1, files.runs.size()); ++i) {
    if (!files.runs.empty()) one.runs = {files.runs[i]};
    take(TRY(AddRunToLibrary(library, one, entry, options)));
  }
  return added;
}

Result<EntryList> RemoveFromLibrary(store::Library& library, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) TRY(library.Get(id));
  EntryList removed;
  removed.provenance = MakeProvenance({library.name()});
  for (const std::string& id : ids) removed.page.entries.push_back(TRY(library.Remove(id)));
  return removed;
}

}  // namespace beryl::flows
