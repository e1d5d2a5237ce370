#include "base/free_name.h"

#include <filesystem>

#include <fmt/format.h>

namespace beryl {

namespace fs = std::filesystem;

std::string FreeName(const std::string& wanted) {
  const fs::path path = wanted;
  std::string name = wanted;
  std::error_code ignored;
  // A link to nowhere takes a name too.
  for (int number = 2; fs::exists(fs::symlink_status(name, ignored)); ++number) {
    const std::string file =
        fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string());
    name = (path.parent_path() / file).string();
  }
  return name;
}

bool HasContent(const std::string& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && fs::file_size(path, failed) > 0;
}

}  // namespace beryl
