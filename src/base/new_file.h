// A file in the making, for base/file.cc: others see it when it is put in its place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace beryl {

// Until Place it has no name, so that nothing is left behind however the program ends. Where the
// file system cannot do that, it has a name beside its place that nobody can guess and that no file
// had before; signals that end the program remove it. A device, a pipe and `-`, standard output,
// are written in place. Not thread-safe.
class NewFile {
 public:
  enum class Name { kNoneIfPossible, kFromStart };
  static Result<NewFile> Open(const std::string& path, Name name = Name::kNoneIfPossible);
  // For a file that is open already, and in place.
  static NewFile Of(int fd, std::string path) { return {fd, std::move(path), true}; }
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) noexcept;
  ~NewFile();

  // From now on, Place replaces nothing: if there is a file by then, this one gets the first free
  // name after `wanted` (base/free_name.h).
  void KeepOthers(std::string wanted) { wanted_ = std::move(wanted); }
  const std::string& path() const { return path_; }

  Status Write(std::string_view bytes) const;
  // Tells the system to begin writing bytes [from, to) to the disk, so that a later synced Place
  // waits less. Waits for nothing.
  void BeginSync(uint64_t from, uint64_t to) const;
  // Gives the file its name, in place of the file that had it; of a link, in place of the file that
  // it points to. It can still be written. Does nothing the second time.
  // `synced`: first waits until what was written, and then until the name survives a loss of power;
  // it is an error if the system cannot promise that.
  Status Place(bool synced = false);
  bool is_placed() const { return placed_; }

 private:
  NewFile(int fd, std::string path, bool placed)
      : fd_(fd), path_(std::move(path)), placed_(placed) {}
  Status GiveName();
  Status GiveFreeName();
  Error Failure() const;

  int fd_ = -1;
  std::string path_;       // its place; for messages
  std::string temporary_;  // its name until then; empty: none
  std::string wanted_;     // see KeepOthers; empty: it replaces what is there
  bool placed_ = false;
};

}  // namespace beryl
