#include "store/library/page_token.h"

#include <charconv>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "types/library_entry.h"

namespace beryl::store {
namespace {

std::string CheckOf(std::string_view list, std::string_view time, std::string_view id) {
  return Sha256Of(fmt::format("{}\n{}\n{}", list, time, id)).substr(0, 8);
}

}  // namespace

std::string MakePageToken(std::string_view list, const PageEnd& end) {
  const std::string time = fmt::format("{:x}", static_cast<uint64_t>(end.created.value));
  return fmt::format("{}-{}-{}", time, end.id, CheckOf(list, time, end.id));
}

Result<PageEnd> ReadPageToken(std::string_view list, std::string_view token) {
  const auto parts = Split(token, '-');
  uint64_t time = 0;
  const bool is_token =
      parts.size() == 3 && IsLibraryId(parts[1]) && parts[2] == CheckOf(list, parts[0], parts[1]);
  if (is_token) {
    const char* const end = parts[0].data() + parts[0].size();
    const auto read = std::from_chars(parts[0].data(), end, time, 16);
    if (read.ec == std::errc() && read.ptr == end) {
      return PageEnd{Nanos{static_cast<int64_t>(time)}, std::string(parts[1])};
    }
  }
  return MisuseError(
      "the page token is not one that this list gave, with this filter; ask for its first page "
      "again",
      {"page_token"});
}

}  // namespace beryl::store
