// File input and output. `-` is standard input or output. Input is decompressed if its content, not
// its name, is gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/new_file.h"
#include "base/result.h"

namespace beryl {

// A stream of bytes, read once from front to back. Not thread-safe.
class ByteSource {
 public:
  static Result<ByteSource> Open(const std::string& path);
  // Without decompression.
  static Result<ByteSource> OpenAsItIs(const std::string& path);
  // Does not copy: `bytes` must outlive the source.
  static ByteSource FromMemory(std::string_view bytes, std::string name);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `buffer` with up to `size` bytes and returns how many; fewer than `size` only at the end.
  // A read error is an Error. A compressed stream that is cut short or damaged ends the data, and
  // damage() says so.
  Result<size_t> Read(char* buffer, size_t size);

  // Returns up to the first `size` bytes without consuming them; only before the first Read.
  Result<std::string_view> Peek(size_t size);

  // The name given on the command line, for messages.
  const std::string& name() const;
  // Bytes of the underlying file, before decompression; 0 if unknown (a pipe).
  uint64_t file_size() const;
  // Bytes of the underlying file read so far.
  uint64_t file_position() const;
  // Why a compressed stream ended early; empty if it did not.
  const std::string& damage() const;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

Result<std::string> ReadAll(ByteSource& source, size_t limit);

// An output file, opened before long work starts so that a wrong path fails at once. It appears
// whole, in place of the old file, or not at all, and nothing else is left behind, however the
// program ends. `-` is standard output.
class OutputFile {
 public:
  static Result<OutputFile> Open(const std::string& path);

  Status Commit(std::string_view bytes);

 private:
  explicit OutputFile(NewFile file) : file_(std::move(file)) {}
  NewFile file_;
};

// A file that grows. Nobody sees it before Show, and a file that was there before stays until then;
// from then on others can read appended bytes at once, and they stay if the program is killed. `-`
// is standard output.
class GrowingFile {
 public:
  static Result<GrowingFile> Open(const std::string& path);
  // A file that is open for writing, and is now owned; `name` is for messages. Need not be shown.
  static GrowingFile Of(int fd, std::string name);

  // From now on, Show takes no other file's name, but the next free one after `wanted`; path() is
  // the name then.
  void KeepOthers(std::string wanted) { file_.KeepOthers(std::move(wanted)); }
  const std::string& path() const { return file_.path(); }

  Status Append(std::string_view bytes);
  // `synced`: what was appended survives a loss of power before others see it.
  Status Show(bool synced = false);
  bool is_shown() const { return file_.is_placed(); }
  uint64_t size() const { return size_; }

 private:
  explicit GrowingFile(NewFile file) : file_(std::move(file)) {}
  NewFile file_;
  uint64_t size_ = 0;
};

}  // namespace beryl
