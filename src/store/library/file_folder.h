// A folder of files that are named by their content: files/ab/abcd... for the digest abcd...
// Thread-safe, but for Place and Remove of the same content at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/new_file.h"
#include "base/result.h"
#include "base/sha256.h"
#include "types/library_entry.h"

namespace beryl::store {

// A file whose name is not known before its end. Nothing is left of it unless it is placed.
class NewContent {
 public:
  NewContent(NewContent&& other) noexcept;
  NewContent& operator=(NewContent&&) = delete;
  ~NewContent();

  Status Write(std::string_view bytes);
  uint64_t bytes() const { return bytes_; }
  // Ends it: what was written survives a loss of power, at path(). Call once.
  Result<StoredFile> Finish();
  const std::string& path() const { return path_; }

 private:
  friend class FileFolder;
  NewContent(NewFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  NewFile file_;
  std::string path_;  // in tmp/, from Finish until it is placed
  Sha256 digest_;
  uint64_t bytes_ = 0;
  uint64_t on_the_way_ = 0;  // that many were sent to the disk already
};

class FileFolder {
 public:
  // Creates missing folders, which only the user can read.
  static Result<FileFolder> Open(const std::string& root);
  // One that is only read.
  static FileFolder At(const std::string& root) { return FileFolder(root); }

  Result<NewContent> Begin() const;
  // Gives a finished content its name, durably; it takes the place of the same content.
  Status Place(NewContent& content, const std::string& digest) const;
  std::string PathOf(const std::string& digest) const;
  // Nothing: it is not there.
  std::optional<uint64_t> SizeOf(const std::string& digest) const;
  // Says that it was used just now.
  void Touch(const std::string& digest) const;
  // Whether it was there.
  bool Remove(const std::string& digest) const;
  // Calls visit(digest, bytes, age) for each.
  using Visit = std::function<void(const std::string&, uint64_t, std::chrono::seconds)>;
  void ForEach(const Visit& visit) const;
  // Removes what killed processes left in tmp/, if it is that old.
  void Sweep(std::chrono::seconds age) const;

 private:
  explicit FileFolder(std::string root) : root_(std::move(root)) {}
  std::string root_;
};

// Waits until the content of a file, or the names in a folder, survive a loss of power.
Status SyncToDisk(const std::string& path);
// Reads a file as it is, piece by piece.
Status ReadPieces(const std::string& path, size_t piece,
                  const std::function<Status(std::string_view)>& take);
// A name that nobody has: 16 lower-case letters and digits.
std::string RandomName();

}  // namespace beryl::store
