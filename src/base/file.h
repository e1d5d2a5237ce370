// Bytes in and out. The one door to files: `-` is standard input or output, gzip is undone on the
// way in by looking at the content, never at the name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace beryl {

// A stream of bytes, read once from front to back. Use by one thread at a time.
class ByteSource {
 public:
  static Result<ByteSource> Open(const std::string& path);
  // Does not copy: `bytes` has to outlive the source.
  static ByteSource FromMemory(std::string_view bytes, std::string name);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Fills `buffer` with up to `size` bytes and returns how many; fewer than `size` only at the end.
  // A failing disk is an error. A compressed stream that is cut short or damaged is the end of the
  // data, and damage() says so.
  Result<size_t> Read(char* buffer, size_t size);

  // Looks at up to `size` first bytes without consuming them; only before the first Read.
  Result<std::string_view> Peek(size_t size);

  // What the name on the command line was, for messages.
  const std::string& name() const;
  // Bytes of the underlying file, before decompression; 0 if that is not known (a pipe).
  uint64_t file_size() const;
  // How many bytes of the underlying file have been read.
  uint64_t file_position() const;
  // Empty, or why a compressed stream ended before its end.
  const std::string& damage() const;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

Result<std::string> ReadAll(ByteSource& source, size_t limit);

// An output file, opened before long work starts so that a wrong path fails at once. Bytes go to
// `path` only when Commit() is called (through a temporary name beside it), so that a failed run
// leaves what was there before. `-` is standard output.
class OutputFile {
 public:
  static Result<OutputFile> Open(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  Result<bool> Commit(std::string_view bytes);

 private:
  OutputFile(std::string path, std::string temporary, int fd);
  std::string path_;
  std::string temporary_;
  int fd_ = -1;
};

// A file that grows: what was appended is there for others to read at once, and stays if the
// program is killed. What was in the file before goes with the first bytes. `-` is standard output.
class GrowingFile {
 public:
  static Result<GrowingFile> Open(const std::string& path);
  GrowingFile(GrowingFile&&) noexcept;
  GrowingFile& operator=(GrowingFile&&) noexcept;
  ~GrowingFile();

  Result<bool> Append(std::string_view bytes);
  uint64_t size() const { return size_; }

 private:
  GrowingFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace beryl
