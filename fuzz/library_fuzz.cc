// What a library takes from outside: page tokens, and the manifest of an export. What is read of a
// manifest is valid, and the same after it was written and read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "require.h"
#include "store/library/page_token.h"
#include "types/library_json.h"

using beryl::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const auto end = beryl::store::ReadPageToken("list", text);
  if (end) {
    Require(beryl::store::MakePageToken("list", *end) == text, "a token says one thing");
    Require(!beryl::store::ReadPageToken("another", text), "a token is of one list");
  }
  const auto entries = beryl::ReadManifest(text, "fuzz");
  if (!entries) {
    Require(entries.error().message.find("fuzz") != std::string::npos, "an error names its file");
    return 0;
  }
  for (const beryl::LibraryEntry& entry : *entries) {
    Require(beryl::IsLibraryId(entry.id), "an id is one");
    for (const beryl::EntryFile& file : entry.files) {
      Require(beryl::IsDigest(file.stored.digest), "a digest is one");
    }
  }
  const std::string written = beryl::WriteManifest(*entries, {});
  const auto again = beryl::ReadManifest(written, "fuzz");
  Require(again.has_value(), "what is written can be read");
  Require(beryl::WriteManifest(*again, {}) == written, "written and read it is the same");
  return 0;
}
