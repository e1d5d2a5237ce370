#include "store/library/file_folder.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace beryl::store {
namespace {

namespace fs = std::filesystem;

// So many bytes are sent to the disk together, while more of a large file come.
constexpr uint64_t kSyncStep = uint64_t{16} << 20;

Status MakeFolder(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) {
    if (fs::is_directory(path, failed)) return {};
    errno = ENOTDIR;
  }
  return IoError(
      fmt::format("{}: cannot make this folder: {}", path.string(), std::strerror(errno)));
}

std::chrono::seconds AgeOf(const fs::path& path) {
  std::error_code failed;
  const auto written = fs::last_write_time(path, failed);
  if (failed) return std::chrono::seconds(0);
  return std::chrono::duration_cast<std::chrono::seconds>(fs::file_time_type::clock::now() -
                                                          written);
}

}  // namespace

std::string RandomName() {
  static constexpr std::string_view kLetters = "0123456789abcdefghjkmnpqrstvwxyz";
  std::array<uint8_t, 16> random{};
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
  }
  std::string name;
  for (const uint8_t byte : random) name += kLetters[byte % kLetters.size()];
  return name;
}

Status SyncToDisk(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // Some file systems keep names without being asked, and refuse to be asked.
  const bool failed = fd < 0 || (::fsync(fd) != 0 && errno != EINVAL);
  const int why = errno;
  if (fd >= 0) ::close(fd);
  if (!failed) return {};
  return IoError(fmt::format("{}: cannot be kept: {}", path, std::strerror(why)));
}

Status ReadPieces(const std::string& path, size_t piece,
                  const std::function<Status(std::string_view)>& take) {
  auto source = TRY(ByteSource::OpenAsItIs(path));
  std::string buffer(piece, '\0');
  for (;;) {
    const size_t got = TRY(source.Read(buffer.data(), buffer.size()));
    if (got > 0) TRY(take(std::string_view(buffer).substr(0, got)));
    if (got < buffer.size()) return {};
  }
}

NewContent::NewContent(NewContent&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::exchange(other.path_, {})),
      digest_(other.digest_),
      bytes_(other.bytes_),
      on_the_way_(other.on_the_way_) {}

NewContent::~NewContent() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status NewContent::Write(std::string_view bytes) {
  TRY(file_.Write(bytes));
  digest_.Add(bytes);
  bytes_ += bytes.size();
  if (bytes_ - on_the_way_ >= kSyncStep) {
    file_.BeginSync(on_the_way_, bytes_);
    on_the_way_ = bytes_;
  }
  return {};
}

Result<StoredFile> NewContent::Finish() {
  TRY(file_.Place(true));
  return StoredFile{digest_.Finish(), bytes_};
}

Result<FileFolder> FileFolder::Open(const std::string& root) {
  const fs::path folder = root;
  for (const fs::path& part : {folder, folder / "files", folder / "tmp"}) TRY(MakeFolder(part));
  return FileFolder(root);
}

Result<NewContent> FileFolder::Begin() const {
  std::string path = (fs::path(root_) / "tmp" / RandomName()).string();
  auto file = TRY(NewFile::Open(path));
  return NewContent(std::move(file), std::move(path));
}

std::string FileFolder::PathOf(const std::string& digest) const {
  return (fs::path(root_) / "files" / digest.substr(0, 2) / digest).string();
}

Status FileFolder::Place(NewContent& content, const std::string& digest) const {
  const fs::path place = PathOf(digest);
  const fs::path folder = place.parent_path();
  const bool is_new = !fs::exists(folder);
  TRY(MakeFolder(folder));
  if (is_new) TRY(SyncToDisk(folder.parent_path().string()));
  std::error_code failed;
  fs::rename(content.path_, place, failed);
  if (failed) return IoError(fmt::format("{}: {}", place.string(), failed.message()));
  content.path_.clear();
  return SyncToDisk(folder.string());
}

std::optional<uint64_t> FileFolder::SizeOf(const std::string& digest) const {
  std::error_code failed;
  const uint64_t size = fs::file_size(PathOf(digest), failed);
  return failed ? std::nullopt : std::optional(size);
}

void FileFolder::Touch(const std::string& digest) const {
  (void)::utimensat(AT_FDCWD, PathOf(digest).c_str(), nullptr, 0);
}

bool FileFolder::Remove(const std::string& digest) const {
  return ::unlink(PathOf(digest).c_str()) == 0;
}

void FileFolder::ForEach(const Visit& visit) const {
  std::error_code failed;
  for (const fs::directory_entry& folder :
       fs::directory_iterator(fs::path(root_) / "files", failed)) {
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path(), failed)) {
      const std::string name = file.path().filename().string();
      const uint64_t size = file.file_size(failed);
      if (!failed && IsDigest(name)) visit(name, size, AgeOf(file.path()));
    }
  }
}

void FileFolder::Sweep(std::chrono::seconds age) const {
  std::error_code failed;
  for (const fs::directory_entry& left : fs::directory_iterator(fs::path(root_) / "tmp", failed)) {
    if (AgeOf(left.path()) >= age) fs::remove_all(left.path(), failed);
  }
}

}  // namespace beryl::store
