// Entries of a library as JSON: in lists, and in the manifest of an export, from which they are
// read again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "base/units.h"
#include "types/library_entry.h"
#include "types/provenance.h"

namespace beryl {

// "2026-11-18T01:32:48.123456789Z", and back; also from "2026-11-18T01:32:48Z" and "2026-11-18". A
// text of another form is nothing.
std::string TimeText(Nanos time);
std::optional<Nanos> ParseTimeText(std::string_view text);

// Whether a text is one whole JSON object.
bool IsJsonObject(const std::string& text);

// The members of an entry's object.
void WriteEntryMembers(JsonWriter& json, const LibraryEntry& entry);

inline constexpr const char* kListSchema = "beryl.library/1";
// The entries of a list, as `beryl library ls` and a server write it. Another text is an error.
Result<std::vector<LibraryEntry>> ReadEntries(std::string text, const std::string& name);

inline constexpr const char* kManifestSchema = "beryl.library-manifest/1";
// All entries of an export.
std::string WriteManifest(const std::vector<LibraryEntry>& entries, const Provenance& provenance);
// A damaged or different file is an error that gives the reason.
Result<std::vector<LibraryEntry>> ReadManifest(std::string text, const std::string& name);

}  // namespace beryl
