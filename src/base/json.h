// JSON in: walking objects and arrays front to back, without building a document.
//
// The parser behind this is simdjson's On-Demand reader, which is named nowhere else. Values are
// looked at where they stand in the text: a Value, and every view taken from it, is good only until
// the walk moves on. Every walk says whether the text was well-formed up to its end; what was seen
// of an object whose walk failed has to be thrown away.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/result.h"

namespace beryl::json {

// The name of a member, compared as it stands in the text (escapes in names are not undone).
class Key {
 public:
  explicit Key(const char* text) : text_(text) {}

  template <size_t kSize>
  bool operator==(const char (&literal)[kSize]) const {
    return std::memcmp(text_, literal, kSize - 1) == 0 && text_[kSize - 1] == '"';
  }
  template <size_t kSize>
  bool StartsWith(const char (&literal)[kSize]) const {
    return std::memcmp(text_, literal, kSize - 1) == 0;
  }
  // Runs up to the next quote.
  std::string_view Text() const { return {text_, std::strcspn(text_, "\"")}; }

 private:
  const char* text_;
};

class Value {
 public:
  explicit Value(simdjson::ondemand::value value) : value_(value) {}

  // The text of a number, string (with its quotes) or literal; for an object or array its first
  // byte.
  std::string_view Token() {
    std::string_view token = value_.raw_json_token();
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') {
      token.remove_suffix(1);
    }
    return token;
  }
  bool IsString() { return First() == '"'; }
  bool IsObject() { return First() == '{'; }
  bool IsArray() { return First() == '['; }

  // The content of a string with escapes undone; nothing if this is not a string.
  std::optional<std::string_view> String() {
    std::string_view token = Token();
    if (token.size() < 2 || token.front() != '"') return std::nullopt;
    std::string_view inside = token.substr(1, token.size() - 2);
    if (std::memchr(inside.data(), '\\', inside.size()) == nullptr) return inside;
    std::string_view plain;
    return value_.get_string().get(plain) == simdjson::SUCCESS ? plain : inside;
  }
  // A whole number, also one written as a string; nothing if this is neither.
  std::optional<int64_t> Integer();

  // Calls visit(Key, Value) for each member. False: the text is broken, or this is no object.
  template <typename Visit>
  bool ForEachMember(Visit&& visit) {
    simdjson::ondemand::object object;
    if (value_.get_object().get(object) != simdjson::SUCCESS) return false;
    return Members(object, visit);
  }
  // Calls visit(Value) for each element. False: the text is broken, or this is no array.
  template <typename Visit>
  bool ForEachElement(Visit&& visit) {
    simdjson::ondemand::array array;
    if (value_.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto element : array) {
      simdjson::ondemand::value value;
      if (element.get(value) != simdjson::SUCCESS) return false;
      visit(Value(value));
    }
    return true;
  }

  // The text of this value as it stands, nested values included, in at most `limit` bytes.
  std::string_view Raw(size_t limit);

  template <typename Visit>
  static bool Members(simdjson::ondemand::object& object, Visit&& visit) {
    for (auto member : object) {
      simdjson::ondemand::raw_json_string key;
      simdjson::ondemand::value value;
      if (member.key().get(key) != simdjson::SUCCESS) return false;
      if (member.value().get(value) != simdjson::SUCCESS) return false;
      visit(Key(key.raw()), Value(value));
    }
    return true;
  }

 private:
  char First() {
    std::string_view token = value_.raw_json_token();
    return token.empty() ? '\0' : token.front();
  }

  simdjson::ondemand::value value_;
};

// Walks a whole document that is one object. `text` is changed only in its capacity.
// The Error has the byte offset and what was expected there.
Result<bool> WalkObject(std::string& text, const std::string& name,
                        const std::function<void(Key, Value)>& visit);

// Where text stops being JSON, and what would have had to stand there. `at_end`: nothing is wrong
// but that it stops too early. For messages only: it yields no values.
struct SyntaxError {
  size_t offset = 0;
  bool at_end = false;
  std::string expected;
};
std::optional<SyntaxError> FindSyntaxError(std::string_view text);

// "expected ',' or '}', found 'x'"
std::string Describe(const SyntaxError& error, std::string_view text);

// Makes bytes that a strict reader refuses harmless in place: invalid UTF-8 becomes '?', control
// characters become spaces. Returns how many were changed; `first` is where.
size_t Sanitize(char* text, size_t size, size_t& first);

}  // namespace beryl::json
