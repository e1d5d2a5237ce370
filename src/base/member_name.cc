#include "base/member_name.h"

namespace beryl::json {

std::string_view RawMemberName(Key key) {
  const char* const start = key.Text().data();
  const char* end = start;
  while (*end != '"' && *end != '\0') end += *end == '\\' && end[1] != '\0' ? 2 : 1;
  return {start, static_cast<size_t>(end - start)};
}

std::string PlainMemberName(Key key) {
  const std::string_view raw = RawMemberName(key);
  std::string plain;
  for (size_t i = 0; i < raw.size(); ++i) {
    const bool escaped =
        raw[i] == '\\' && i + 1 < raw.size() && (raw[i + 1] == '"' || raw[i + 1] == '\\');
    if (escaped) ++i;
    plain += raw[i];
  }
  return plain;
}

}  // namespace beryl::json
