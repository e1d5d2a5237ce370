#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace beryl {
namespace {

constexpr size_t kGzipInput = size_t{256} << 10;

std::string Reason() { return std::strerror(errno); }

// Reads until `size` bytes are there or the file ends.
Result<size_t> ReadFully(int fd, char* buffer, size_t size, const std::string& name) {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd, buffer + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError(fmt::format("{}: cannot read: {}", name, Reason()));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Result<bool> WriteFully(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return IoError(fmt::format("{}: cannot write: {}", name, Reason()));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

struct ByteSource::State {
  std::string name;
  std::string damage;
  int fd = -1;
  std::string_view memory;  // used instead of fd when fd is -1
  uint64_t file_size = 0;
  uint64_t position = 0;
  std::string peeked;
  size_t peeked_used = 0;
  bool started = false;
  bool gzip = false;
  bool gzip_ended = false;
  z_stream inflater{};
  std::vector<char> compressed;

  ~State() {
    if (gzip) inflateEnd(&inflater);
    if (fd > STDIN_FILENO) ::close(fd);
  }

  Result<size_t> ReadFile(char* buffer, size_t size) {
    size_t n = 0;
    if (fd >= 0) {
      auto got = ReadFully(fd, buffer, size, name);
      if (!got) return got.error();
      n = *got;
    } else {
      n = std::min(size, memory.size());
      std::memcpy(buffer, memory.data(), n);
      memory.remove_prefix(n);
    }
    position += n;
    return n;
  }

  // Decides between plain and gzip by the first two bytes.
  Result<bool> Start() {
    started = true;
    compressed.resize(2);
    auto got = ReadFile(compressed.data(), 2);
    if (!got) return got.error();
    compressed.resize(*got);
    if (*got < 2 || compressed[0] != '\x1f' || compressed[1] != '\x8b') {
      peeked.assign(compressed.begin(), compressed.end());
      return true;
    }
    gzip = true;
    if (inflateInit2(&inflater, 15 + 16) != Z_OK) return IoError(name + ": out of memory");
    compressed.resize(kGzipInput);
    inflater.next_in = reinterpret_cast<Bytef*>(compressed.data());
    inflater.avail_in = 2;
    return true;
  }

  // Has at least two bytes at hand unless the file ends: a member's end has to see whether another
  // member follows.
  Result<bool> Refill() {
    if (inflater.avail_in >= 2) return true;
    std::memmove(compressed.data(), inflater.next_in, inflater.avail_in);
    auto got =
        ReadFile(compressed.data() + inflater.avail_in, compressed.size() - inflater.avail_in);
    if (!got) return got.error();
    inflater.next_in = reinterpret_cast<Bytef*>(compressed.data());
    inflater.avail_in += static_cast<uInt>(*got);
    return true;
  }

  Result<size_t> Inflate(char* buffer, size_t size) {
    inflater.next_out = reinterpret_cast<Bytef*>(buffer);
    inflater.avail_out = static_cast<uInt>(size);
    while (inflater.avail_out > 0 && !gzip_ended) {
      if (auto ok = Refill(); !ok) return ok.error();
      if (inflater.avail_in == 0) {
        gzip_ended = true;
        damage = fmt::format("the gzip stream is cut short after {} bytes", position);
        break;
      }
      const uInt before_in = inflater.avail_in;
      const uInt before_out = inflater.avail_out;
      const int status = inflate(&inflater, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        if (auto ok = Refill(); !ok) return ok.error();
        const bool more =
            inflater.avail_in >= 2 && inflater.next_in[0] == 0x1f && inflater.next_in[1] == 0x8b;
        gzip_ended = !more || inflateReset(&inflater) != Z_OK;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        gzip_ended = true;
        damage =
            fmt::format("the gzip stream is damaged near byte {}: {}", position - inflater.avail_in,
                        inflater.msg != nullptr ? inflater.msg : "unreadable");
      } else if (before_in == inflater.avail_in && before_out == inflater.avail_out) {
        gzip_ended = true;
        damage = fmt::format("the gzip stream is cut short after {} bytes", position);
      }
    }
    return size - inflater.avail_out;
  }

  Result<size_t> Read(char* buffer, size_t size) {
    if (!started) {
      if (auto ok = Start(); !ok) return ok.error();
    }
    size_t done = std::min(size, peeked.size() - peeked_used);
    std::memcpy(buffer, peeked.data() + peeked_used, done);
    peeked_used += done;
    while (done < size) {
      const size_t step = std::min(size - done, size_t{1} << 30);  // zlib counts in 32 bits
      auto got = gzip ? Inflate(buffer + done, step) : ReadFile(buffer + done, step);
      if (!got) return got.error();
      done += *got;
      if (*got < step) break;
    }
    return done;
  }
};

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::Open(const std::string& path) {
  auto state = std::make_unique<State>();
  if (path == "-") {
    state->name = "standard input";
    state->fd = STDIN_FILENO;
    return ByteSource(std::move(state));
  }
  state->name = path;
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->fd < 0) return IoError(fmt::format("{}: cannot open: {}", path, Reason()));
  struct stat info {};
  if (::fstat(state->fd, &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      return IoError(fmt::format("{}: is a directory; name a file inside it", path));
    }
    if (S_ISREG(info.st_mode)) state->file_size = static_cast<uint64_t>(info.st_size);
  }
  return ByteSource(std::move(state));
}

ByteSource ByteSource::FromMemory(std::string_view bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->memory = bytes;
  state->file_size = bytes.size();
  return ByteSource(std::move(state));
}

Result<size_t> ByteSource::Read(char* buffer, size_t size) { return state_->Read(buffer, size); }

Result<std::string_view> ByteSource::Peek(size_t size) {
  std::string text(size, '\0');
  auto got = state_->Read(text.data(), size);
  if (!got) return got.error();
  // What an earlier, longer look has read stays in front of the rest.
  text.resize(*got);
  state_->peeked = text.append(state_->peeked, state_->peeked_used);
  state_->peeked_used = 0;
  return std::string_view(state_->peeked).substr(0, *got);
}

const std::string& ByteSource::name() const { return state_->name; }
uint64_t ByteSource::file_size() const { return state_->file_size; }
uint64_t ByteSource::file_position() const { return state_->position; }
const std::string& ByteSource::damage() const { return state_->damage; }

Result<std::string> ReadAll(ByteSource& source, size_t limit) {
  std::string text;
  for (size_t step = size_t{1} << 16;; step *= 2) {
    const size_t before = text.size();
    text.resize(before + step);
    auto got = source.Read(text.data() + before, step);
    if (!got) return got.error();
    text.resize(before + *got);
    if (text.size() > limit) {
      return InvalidError(
          fmt::format("{}: larger than the {} MiB this can be", source.name(), limit >> 20));
    }
    if (*got < step) return text;
  }
}

OutputFile::OutputFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
  return *this;
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  if (fd_ >= 0) ::close(fd_);
  ::unlink(temporary_.c_str());
}

Result<OutputFile> OutputFile::Open(const std::string& given) {
  if (given == "-") return OutputFile("standard output", "", STDOUT_FILENO);
  // Through a link, the file it leads to is replaced, not the link.
  std::error_code unresolved;
  const std::filesystem::path resolved = std::filesystem::canonical(given, unresolved);
  const std::string path = unresolved ? given : resolved.string();
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  // Devices and pipes cannot be replaced by a rename; they are written in place.
  const bool in_place = exists && !S_ISREG(info.st_mode);
  std::string temporary = in_place ? "" : fmt::format("{}.{}.part", path, ::getpid());
  const std::string& target = in_place ? path : temporary;
  const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (in_place ? 0 : O_TRUNC),
                        exists ? info.st_mode & 0777 : 0666);
  if (fd < 0) return IoError(fmt::format("'{}': cannot write: {}", given, Reason()));
  return OutputFile(path, std::move(temporary), fd);
}

Result<bool> OutputFile::Commit(std::string_view bytes) {
  if (auto ok = WriteFully(fd_, bytes, path_); !ok) return ok;
  if (temporary_.empty()) return true;
  if (::close(std::exchange(fd_, -1)) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return IoError(fmt::format("{}: cannot write: {}", path_, Reason()));
  }
  temporary_.clear();
  return true;
}

Result<GrowingFile> GrowingFile::Open(const std::string& path) {
  if (path == "-") return GrowingFile("standard output", STDOUT_FILENO);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return IoError(fmt::format("'{}': cannot write: {}", path, Reason()));
  return GrowingFile(path, fd);
}

GrowingFile::GrowingFile(GrowingFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(std::exchange(other.size_, 0)) {}

GrowingFile& GrowingFile::operator=(GrowingFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

GrowingFile::~GrowingFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

Result<bool> GrowingFile::Append(std::string_view bytes) {
  // A device or a pipe has no length to cut; that is no failure.
  if (size_ == 0 && fd_ > STDERR_FILENO && ::ftruncate(fd_, 0) != 0) errno = 0;
  size_ += bytes.size();
  return WriteFully(fd_, bytes, path_);
}

}  // namespace beryl
