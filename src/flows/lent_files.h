// Files of a library under the names that they were given, in a folder for as long as they are
// read: what reads them takes ranks, forms and messages from names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "store/library.h"
#include "types/library_entry.h"
#include "types/note.h"

namespace beryl::flows {

// The last part of the name under which a file was given, fit for a file.
std::string OriginalName(const EntryFile& file);
// The same of any name; "file" if nothing is left of it.
std::string OriginalName(const std::string& name);

class LentFiles {
 public:
  // Each in a folder of its own, so that names may be the same.
  static Result<LentFiles> Apart(store::Library& library, const std::vector<EntryFile>& files);
  // All in one folder of this name. kMisuse, if two have the same name.
  static Result<LentFiles> Together(store::Library& library, const std::vector<EntryFile>& files,
                                    const std::string& name);
  LentFiles(LentFiles&& other) noexcept;
  LentFiles& operator=(LentFiles&&) = delete;
  ~LentFiles();

  // In the order of the files; or the folder that they are together in.
  const std::vector<std::string>& places() const { return places_; }

  // Takes what is before the names out of what was read from there.
  void Forget(std::string& text) const;
  void Forget(std::vector<Note>& notes) const;
  Error Forget(Error error) const;

 private:
  LentFiles() = default;
  static Result<LentFiles> InNewFolder();
  Status Link(store::Library& library, const EntryFile& file, const std::string& folder);

  std::string folder_;
  std::vector<std::string> places_;
};

}  // namespace beryl::flows
