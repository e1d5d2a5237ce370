// Names of JSON members, escapes and all. json::Key::Text stops at an escaped quote, which is right
// for names that a program knows, and wrong for those that it has to keep.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace beryl::learn {

// As it stands in the text.
std::string_view RawMemberName(json::Key key);
// With escaped quotes and backslashes undone, the only escapes that JsonWriter makes.
std::string PlainMemberName(json::Key key);

}  // namespace beryl::learn
