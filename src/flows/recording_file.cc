#include "flows/recording_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/free_name.h"
#include "base/text.h"

namespace beryl::flows {
namespace {

constexpr const char* kDefaultName = "run.beryl";

Error CannotWrite(const std::string& path) {
  return IoError(fmt::format("'{}': cannot write: {}", Printable(path), std::strerror(errno)));
}

// A name beside `path` that nobody can guess.
std::string NameBeside(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.part", path, random(), random());
}

}  // namespace

RecordingFile::RecordingFile(RecordingFile&& other) noexcept
    : file_(std::move(other.file_)),
      is_kept_(std::exchange(other.is_kept_, true)),
      replaced_(std::move(other.replaced_)) {}

RecordingFile::~RecordingFile() {
  if (!is_kept_ && file_.is_shown()) ::unlink(file_.path().c_str());
}

Result<RecordingFile> RecordingFile::Open(const std::string& given, bool replace) {
  std::string path = given.empty() ? FreeName(kDefaultName) : given;
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  const bool exists = std::filesystem::exists(status);
  if (path == "-" || (exists && !std::filesystem::is_regular_file(status))) {
    return RecordingFile(TRY(GrowingFile::Open(path)), true, path);
  }
  if (!exists) {
    GrowingFile file = TRY(GrowingFile::Open(path));
    if (!replace) file.KeepOthers(given.empty() ? kDefaultName : given);
    return RecordingFile(std::move(file), false);
  }
  if (!replace && HasContent(path)) {
    return MisuseError(
        fmt::format("{}: there is such a file; give another name, or say that it is to be replaced",
                    Printable(path)),
        {"force"});
  }
  // The file that a link points to is replaced, not the link.
  if (std::filesystem::is_symlink(path, failed)) {
    const auto resolved = std::filesystem::canonical(path, failed);
    if (!failed) path = resolved.string();
  }
  const std::string temporary = NameBeside(path);
  return RecordingFile(TRY(GrowingFile::Open(temporary)), false, path);
}

Status RecordingFile::Keep() {
  if (is_kept_) return {};
  TRY(file_.Show());
  if (!replaced_.empty()) {
    struct stat info {};
    // It has the rights of the file in whose place it comes.
    const char* const old = replaced_.c_str();
    const std::string& temporary = file_.path();
    const bool has_rights =
        ::stat(old, &info) != 0 || ::chmod(temporary.c_str(), info.st_mode & 0777) == 0;
    if (!has_rights || ::rename(temporary.c_str(), old) != 0) return CannotWrite(replaced_);
  }
  is_kept_ = true;
  return {};
}

}  // namespace beryl::flows
