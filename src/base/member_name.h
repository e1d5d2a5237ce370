// Names of JSON members with their escapes. Key::Text stops at an escaped quote: right for names
// that a program knows, wrong for names that it must keep.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace beryl::json {

// As written in the text.
std::string_view RawMemberName(Key key);
// With escaped quotes and backslashes decoded, the only escapes that JsonWriter writes.
std::string PlainMemberName(Key key);

}  // namespace beryl::json
