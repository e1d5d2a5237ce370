#include "flows/lent_files.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestName = 200;

}  // namespace

std::string OriginalName(const std::string& name) {
  std::string last = fs::path(name).filename().string();
  if (last.empty() || last == "." || last == "..") return "file";
  return last.substr(0, kLongestName);
}

std::string OriginalName(const EntryFile& file) { return OriginalName(file.name); }

Result<LentFiles> LentFiles::InNewFolder() {
  LentFiles lent;
  std::string folder = (fs::temp_directory_path() / "beryl-run-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return IoError(
        fmt::format("{}: cannot make a folder there", fs::temp_directory_path().string()));
  }
  lent.folder_ = folder;
  return lent;
}

Status LentFiles::Link(store::Library& library, const EntryFile& file, const std::string& folder) {
  const std::string path = TRY(library.PathOf(file.stored.digest));
  const fs::path place = fs::path(folder) / OriginalName(file);
  std::error_code failed;
  fs::create_directories(folder, failed);
  fs::create_symlink(fs::absolute(path), place, failed);
  if (failed == std::errc::file_exists) {
    return MisuseError(fmt::format("two files have the name {}", Printable(OriginalName(file))));
  }
  if (failed) return IoError(fmt::format("{}: {}", place.string(), failed.message()));
  return {};
}

Result<LentFiles> LentFiles::Apart(store::Library& library, const std::vector<EntryFile>& files) {
  LentFiles lent = TRY(InNewFolder());
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string folder = (fs::path(lent.folder_) / std::to_string(i)).string();
    TRY(lent.Link(library, files[i], folder));
    lent.places_.push_back((fs::path(folder) / OriginalName(files[i])).string());
  }
  return lent;
}

Result<LentFiles> LentFiles::Together(store::Library& library, const std::vector<EntryFile>& files,
                                      const std::string& name) {
  LentFiles lent = TRY(InNewFolder());
  const std::string folder = (fs::path(lent.folder_) / "0" / OriginalName(name)).string();
  for (const EntryFile& file : files) TRY(lent.Link(library, file, folder));
  lent.places_.push_back(folder);
  return lent;
}

LentFiles::LentFiles(LentFiles&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), places_(std::move(other.places_)) {}

LentFiles::~LentFiles() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

void LentFiles::Forget(std::string& text) const {
  for (size_t at = 0; (at = text.find(folder_, at)) != std::string::npos;) {
    const size_t end = text.find('/', at + folder_.size() + 1);
    text.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

void LentFiles::Forget(std::vector<Note>& notes) const {
  for (Note& note : notes) {
    for (std::string* text : {&note.subject, &note.first, &note.source}) Forget(*text);
  }
}

Error LentFiles::Forget(Error error) const {
  Forget(error.message);
  return error;
}

}  // namespace beryl::flows
