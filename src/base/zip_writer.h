// Writes a ZIP archive from front to back: no byte is changed once it was passed on, so the archive
// can go to a pipe and its files need not fit in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace beryl {

// Files are deflated; those without a size beforehand have it behind them. Version 2.0 of the
// format without any of its extensions, because not every reader has those: names are ASCII, a file
// is smaller than 4 GiB, and so is the archive. Equal files give equal archives: they have no time.
class ZipWriter {
 public:
  using Sink = std::function<Status(std::string_view bytes)>;
  explicit ZipWriter(Sink sink) : sink_(std::move(sink)) {}

  // `name`: in ASCII, with / between folders; not that of another file.
  Status Add(std::string_view name, std::string_view bytes);
  // What is left of `source`, decompressed.
  Status Add(std::string_view name, ByteSource& source);
  // Writes the table of contents. Nothing may be added after it.
  Status Finish();

 private:
  // Gives the next bytes of a file; none at its end.
  using NextBytes = std::function<Result<std::string_view>()>;
  Status AddFile(std::string_view name, const NextBytes& next);
  Status Put(std::string_view bytes);

  Sink sink_;
  uint64_t written_ = 0;
  std::string contents_;
  uint32_t files_ = 0;
};

}  // namespace beryl
