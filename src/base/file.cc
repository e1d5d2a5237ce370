#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace beryl {
namespace {

constexpr size_t kGzipInput = size_t{256} << 10;

std::string Reason() { return std::strerror(errno); }

// Reads until there are `size` bytes or the file ends.
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
      auto got = TRY(ReadFully(fd, buffer, size, name));
      n = got;
    } else {
      n = std::min(size, memory.size());
      std::memcpy(buffer, memory.data(), n);
      memory.remove_prefix(n);
    }
    position += n;
    return n;
  }

  // Tells plain from gzip by the first two bytes.
  Status Start() {
    started = true;
    compressed.resize(2);
    auto got = TRY(ReadFile(compressed.data(), 2));
    compressed.resize(got);
    if (got < 2 || compressed[0] != '\x1f' || compressed[1] != '\x8b') {
      peeked.assign(compressed.begin(), compressed.end());
      return {};
    }
    gzip = true;
    if (inflateInit2(&inflater, 15 + 16) != Z_OK) return IoError(name + ": out of memory");
    compressed.resize(kGzipInput);
    inflater.next_in = reinterpret_cast<Bytef*>(compressed.data());
    inflater.avail_in = 2;
    return {};
  }

  // Buffers at least two bytes unless the file ends: at the end of a gzip member, they show whether
  // another member follows.
  Status Refill() {
    if (inflater.avail_in >= 2) return {};
    std::memmove(compressed.data(), inflater.next_in, inflater.avail_in);
    auto got =
        TRY(ReadFile(compressed.data() + inflater.avail_in, compressed.size() - inflater.avail_in));
    inflater.next_in = reinterpret_cast<Bytef*>(compressed.data());
    inflater.avail_in += static_cast<uInt>(got);
    return {};
  }

  Result<size_t> Inflate(char* buffer, size_t size) {
    inflater.next_out = reinterpret_cast<Bytef*>(buffer);
    inflater.avail_out = static_cast<uInt>(size);
    while (inflater.avail_out > 0 && !gzip_ended) {
      TRY(Refill());
      if (inflater.avail_in == 0) {
        gzip_ended = true;
        damage = fmt::format("the gzip stream is cut short after {} bytes", position);
        break;
      }
      const uInt before_in = inflater.avail_in;
      const uInt before_out = inflater.avail_out;
      const int status = inflate(&inflater, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        TRY(Refill());
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
      TRY(Start());
    }
    size_t done = std::min(size, peeked.size() - peeked_used);
    std::memcpy(buffer, peeked.data() + peeked_used, done);
    peeked_used += done;
    while (done < size) {
      const size_t step = std::min(size - done, size_t{1} << 30);  // zlib counts in 32 bits
      auto got = TRY(gzip ? Inflate(buffer + done, step) : ReadFile(buffer + done, step));
      done += got;
      if (got < step) break;
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

Result<ByteSource> ByteSource::OpenAsItIs(const std::string& path) {
  auto source = TRY(Open(path));
  source.state_->started = true;
  return source;
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
  auto got = TRY(state_->Read(text.data(), size));
  // Bytes read by an earlier, longer Peek stay in front of the rest.
  text.resize(got);
  state_->peeked = text.append(state_->peeked, state_->peeked_used);
  state_->peeked_used = 0;
  return std::string_view(state_->peeked).substr(0, got);
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
    auto got = TRY(source.Read(text.data() + before, step));
    text.resize(before + got);
    if (text.size() > limit) {
      return InvalidError(
          fmt::format("{}: larger than the {} MiB this can be", source.name(), limit >> 20));
    }
    if (got < step) return text;
  }
}

Result<OutputFile> OutputFile::Open(const std::string& path) {
  return OutputFile(TRY(NewFile::Open(path)));
}

Status OutputFile::Commit(std::string_view bytes) {
  TRY(file_.Write(bytes));
  return file_.Place();
}

Result<GrowingFile> GrowingFile::Open(const std::string& path) {
  return GrowingFile(TRY(NewFile::Open(path)));
}

GrowingFile GrowingFile::Of(int fd, std::string name) {
  return GrowingFile(NewFile::Of(fd, std::move(name)));
}

Status GrowingFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  return file_.Write(bytes);
}

Status GrowingFile::Show(bool synced) { return file_.Place(synced); }

}  // namespace beryl
