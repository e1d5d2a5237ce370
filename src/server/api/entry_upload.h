// Uploads of entries with files: a form, or the bytes of one file. They are on disk as they come.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/api/api.h"
#include "store/library.h"
#include "types/library_entry.h"

namespace beryl::server {

struct UploadForm {
  // The fields that are files. A body that is no form is a file of the first.
  std::vector<std::pair<std::string_view, FileRole>> files;
  // Those that are text, of: rank, name, tag, notes, model, machine, accuracy. They are parameters
  // of a body that is no form, except for rank, which is of the files that follow it.
  std::vector<std::string_view> texts;
  // Adds what came, if it can be read.
  std::function<Result<store::AddedEntry>(store::Library&, LibraryEntry)> add;
};
HttpUploadHandler HandleUpload(Api& api, UploadForm form);

}  // namespace beryl::server
