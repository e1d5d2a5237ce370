// Entries of the library in answers and requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/api/parameters.h"
#include "server/http/message.h"
#include "store/library.h"
#include "types/library_entry.h"
#include "views/views.h"

namespace beryl::server {

// kNotFound, if there is none of that kind.
Result<LibraryEntry> FindEntry(store::Library& library, const std::string& id, EntryKind kind);

// A list as `beryl library ls` prints it.
HttpAnswer EntriesAnswer(const EntryList& list, views::Format format);
// The same of one entry.
HttpAnswer EntryAnswer(const store::Library& library, LibraryEntry entry);
// 201 with its place, or 200 if it was there already.
HttpAnswer AddedAnswer(const store::Library& library, store::AddedEntry added);

// What a body says of an entry, {"name": ..., "tags": [...], "notes": ..., "model": ...,
// "accuracy":
// ...}. What is wrong goes to `wrong`; an Error is a body that is no JSON.
Result<EntryPatch> ReadEntryPatch(std::string body, std::vector<ProblemPart>& wrong);

// The bytes of a stored file, from disk.
Result<HttpAnswer> FileAnswer(store::Library& library, const EntryFile& file);

}  // namespace beryl::server
