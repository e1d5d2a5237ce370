#include "flows/library_export.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/free_name.h"
#include "base/text.h"
#include "flows/lent_files.h"
#include "flows/library_run.h"
#include "types/library_json.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr size_t kLargestManifest = size_t{1} << 30;

fs::path PlaceOf(const fs::path& folder, const std::string& digest) {
  return folder / "files" / digest.substr(0, 2) / digest;
}

}  // namespace

Result<LibraryTransfer> ExportLibrary(store::Library& library, const std::string& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || !fs::is_empty(folder, failed)) {
    return MisuseError(fmt::format("{}: an export goes into a new or empty folder", folder),
                       {"output"});
  }
  LibraryTransfer transfer;
  std::vector<LibraryEntry> entries;
  std::set<std::string> copied;
  PageRequest request{.size = 1000};
  do {
    auto page = TRY(library.List({}, request));
    for (LibraryEntry& entry : page.entries) {
      for (const EntryFile& file : entry.files) {
        const std::string& digest = file.stored.digest;
        if (!copied.insert(digest).second) continue;
        const std::string from = TRY(library.PathOf(digest));
        const fs::path to = PlaceOf(folder, digest);
        fs::create_directories(to.parent_path(), failed);
        fs::copy_file(from, to, failed);
        if (failed) return IoError(fmt::format("{}: {}", to.string(), failed.message()));
        ++transfer.files;
        transfer.bytes += file.stored.bytes;
      }
      ++transfer.entries;
      entries.push_back(std::move(entry));
    }
    request.token = page.next_token;
  } while (!request.token.empty());
  auto manifest = TRY(OutputFile::Open((fs::path(folder) / kManifest).string()));
  TRY(manifest.Commit(WriteManifest(entries, MakeProvenance({library.name()}))));
  return transfer;
}

bool IsLibraryExport(const std::string& folder) {
  std::error_code ignored;
  return fs::is_directory(folder, ignored) && fs::exists(fs::path(folder) / kManifest, ignored);
}

Result<LibraryTransfer> AddLibraryExport(store::Library& library, const std::string& folder) {
  const std::string name = (fs::path(folder) / kManifest).string();
  auto source = TRY(ByteSource::Open(name));
  auto text = TRY(ReadAll(source, kLargestManifest));
  auto entries = TRY(ReadManifest(std::move(text), name));
  LibraryTransfer transfer;
  std::set<std::string> kept;
  for (LibraryEntry& entry : entries) {
    for (const EntryFile& file : entry.files) {
      const std::string& digest = file.stored.digest;
      if (!kept.insert(digest).second) continue;
      const std::string path = PlaceOf(folder, digest).string();
      const auto found = TRY(KeepInLibrary(library, path, file.role));
      if (found.stored.digest != digest) {
        return InvalidError(fmt::format("{}: its content has the digest {}; this export is damaged",
                                        path, found.stored.digest));
      }
      ++transfer.files;
      transfer.bytes += found.stored.bytes;
    }
    const auto added = TRY(library.Add(std::move(entry)));
    ++(added.is_new ? transfer.entries : transfer.already_there);
  }
  return transfer;
}

Result<std::vector<std::string>> WriteLibraryFiles(store::Library& library, const std::string& id,
                                                   const std::string& folder) {
  const LibraryEntry entry = TRY(library.Get(id));
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::set<std::string> written;
  std::vector<std::string> paths;
  for (const EntryFile& file : entry.files) {
    const std::string from = TRY(library.PathOf(file.stored.digest));
    std::string to = (fs::path(folder) / OriginalName(file)).string();
    if (written.contains(to)) to = FreeName(to);
    fs::copy_file(from, to, failed);  // unless it is there
    if (failed) return IoError(fmt::format("{}: {}", to, failed.message()));
    written.insert(to);
    paths.push_back(to);
  }
  return paths;
}

}  // namespace beryl::flows
