// The file of a recording. It never overwrites unasked: without a name it gets a free one, and it
// replaces an existing file only on request, and only once the new recording has begun. Until then
// the recording is beside it, under a name that nobody can guess. A new file appears with its head;
// if another program has created a file of that name by then, the recording gets the next free one.
#pragma once

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace beryl::flows {

class RecordingFile {
 public:
  // `path`: "-" is standard output; empty: "run.beryl" here, or "run-2.beryl", and so on. It is a
  // misuse error if the file exists and must not be replaced.
  static Result<RecordingFile> Open(const std::string& path, bool replace);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  // Unless it was kept, leaves everything as it was before Open.
  ~RecordingFile();

  // May change when the file is first seen, but not later.
  const std::string& path() const { return replaced_.empty() ? file_.path() : replaced_; }
  GrowingFile& file() { return file_; }
  // From now on the file is there under its name. May be called again.
  Status Keep();

 private:
  RecordingFile(GrowingFile file, bool is_kept, std::string replaced = {})
      : file_(std::move(file)), is_kept_(is_kept), replaced_(std::move(replaced)) {}

  GrowingFile file_;
  bool is_kept_;          // or is a device
  std::string replaced_;  // whose place it takes when it is kept, or the device; empty: neither
};

}  // namespace beryl::flows
