#include "base/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/free_name.h"

namespace beryl {
namespace {

std::string Reason() { return std::strerror(errno); }

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A name beside `path` that nobody can prepare a file or a link for.
std::string UnguessableName(const std::string& path) {
  std::array<uint64_t, 2> random{};
  // It does not fail for so few bytes. If it does, O_EXCL and linkat still take no other's file.
  if (::getrandom(random.data(), sizeof(random), 0) < 0) random[0] = static_cast<uint64_t>(errno);
  return fmt::format("{}/.beryl-{:016x}{:016x}", FolderOf(path), random[0], random[1]);
}

std::string DescriptorPath(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

bool LinkAs(int fd, const std::string& name) {
  return ::linkat(AT_FDCWD, DescriptorPath(fd).c_str(), AT_FDCWD, name.c_str(),
                  AT_SYMLINK_FOLLOW) == 0;
}

// The names that files have until they are in place. A signal handler can use nothing that locks or
// allocates.
std::array<std::atomic<const char*>, 16> temporary_names{};

void RemoveNamesAndEnd(int signal) {
  for (const auto& name : temporary_names) {
    if (const char* const path = name.load()) ::unlink(path);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// `name` must stay where it is until Forget.
void RemoveIfEnded(const char* name) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
      std::signal(signal, RemoveNamesAndEnd);
    }
  }
  for (auto& slot : temporary_names) {
    const char* none = nullptr;
    if (slot.compare_exchange_strong(none, name)) return;
  }
}

void Forget(const char* name) {
  for (auto& slot : temporary_names) {
    const char* mine = name;
    if (slot.compare_exchange_strong(mine, nullptr)) return;
  }
}

}  // namespace

Result<NewFile> NewFile::Open(const std::string& given, Name name) {
  if (given == "-") return NewFile(STDOUT_FILENO, "standard output", true);
  const auto refused = [&] {
    return IoError(fmt::format("'{}': cannot write: {}", given, Reason()));
  };
  struct stat info {};
  const bool exists = ::stat(given.c_str(), &info) == 0;
  // The system does not let a link of a stranger in a shared folder be followed; then this fails.
  if (!exists && errno != ENOENT) return refused();
  std::error_code unresolved;
  const std::filesystem::path resolved = std::filesystem::canonical(given, unresolved);
  std::string path = unresolved ? given : resolved.string();
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? Result<NewFile>(refused()) : NewFile(fd, std::move(path), true);
  }
  if (path.empty() || path.ends_with('/')) {
    errno = path.empty() ? ENOENT : EISDIR;
    return refused();
  }
  int fd = -1;
  if (name == Name::kNoneIfPossible) {
    fd = ::open(FolderOf(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    // Without /proc it could never be given a name.
    if (fd >= 0 && ::access(DescriptorPath(fd).c_str(), F_OK) != 0) ::close(std::exchange(fd, -1));
  }
  NewFile file(fd, std::move(path), false);
  if (fd < 0) {
    file.temporary_ = UnguessableName(file.path_);
    file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd_ < 0) {
      file.temporary_.clear();
      return refused();
    }
    RemoveIfEnded(file.temporary_.c_str());
  }
  // What replaces a file is as private as that was.
  if (exists) (void)::fchmod(file.fd_, info.st_mode & 0777);
  return file;
}

// The name has 41 bytes or more, which a string keeps at the same place when it is moved.
NewFile::NewFile(NewFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      wanted_(std::move(other.wanted_)),
      placed_(other.placed_) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(wanted_, other.wanted_);
  std::swap(placed_, other.placed_);
  return *this;
}

NewFile::~NewFile() {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    Forget(temporary_.c_str());
  }
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

Error NewFile::Failure() const {
  return IoError(fmt::format("{}: cannot write: {}", path_, Reason()));
}

Status NewFile::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failure();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

void NewFile::BeginSync(uint64_t from, uint64_t to) const {
  (void)::sync_file_range(fd_, static_cast<off64_t>(from), static_cast<off64_t>(to - from),
                          SYNC_FILE_RANGE_WRITE);
}

Status NewFile::Place(bool synced) {
  if (placed_) return {};
  if (synced && ::fdatasync(fd_) != 0) return Failure();
  TRY(wanted_.empty() ? GiveName() : GiveFreeName());
  placed_ = true;
  if (!synced) return {};
  const int folder = ::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems keep names without being asked, and refuse to be asked.
  const bool refused = folder < 0 || (::fsync(folder) != 0 && errno != EINVAL);
  const Error failure = Failure();
  if (folder >= 0) ::close(folder);
  return refused ? Status(failure) : Status();
}

Status NewFile::GiveName() {
  if (temporary_.empty()) {
    if (LinkAs(fd_, path_)) return {};
    if (errno != EEXIST) return Failure();
    // Only a rename replaces a file at once.
    temporary_ = UnguessableName(path_);
    RemoveIfEnded(temporary_.c_str());
    if (!LinkAs(fd_, temporary_)) return Failure();
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Failure();
  Forget(temporary_.c_str());
  temporary_.clear();
  return {};
}

Status NewFile::GiveFreeName() {
  const auto is_taken_by_me = [&] {
    if (temporary_.empty()) return LinkAs(fd_, path_);
    return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) ==
           0;
  };
  while (!is_taken_by_me()) {
    // A file system that can only replace.
    if (errno == EINVAL && ::access(path_.c_str(), F_OK) != 0) return GiveName();
    if (errno != EEXIST && errno != EINVAL) return Failure();
    path_ = FreeName(wanted_);
  }
  if (temporary_.empty()) return {};
  Forget(temporary_.c_str());
  temporary_.clear();
  return {};
}

}  // namespace beryl
