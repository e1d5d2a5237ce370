// JSON input: walks objects and arrays front to back, without building a document.
//
// Wraps simdjson's On-Demand reader; no other file includes it. A Value, and every view taken from
// it, points into the text and is valid only until the walk moves on. Every walk returns whether
// the text was well-formed to its end; if not, discard what it visited.
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

// The name of a member, compared as written in the text (escapes in names are not decoded).
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
  // Stops at the next quote.
  std::string_view Text() const { return {text_, std::strcspn(text_, "\"")}; }

 private:
  const char* text_;
};

class Value {
 public:
  explicit Value(simdjson::ondemand::value value) : value_(value) {}

  // The text of a number, string (with its quotes) or literal; the first byte of an object or
  // array.
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

  // The content of a string with escapes decoded; nothing if this is not a string.
  std::optional<std::string_view> String() {
    std::string_view token = Token();
    if (token.size() < 2 || token.front() != '"') return std::nullopt;
    std::string_view inside = token.substr(1, token.size() - 2);
    if (std::memchr(inside.data(), '\\', inside.size()) == nullptr) return inside;
    std::string_view plain;
    return value_.get_string().get(plain) == simdjson::SUCCESS ? plain : inside;
  }
  // A whole number, or a string that contains one; nothing for anything else.
  std::optional<int64_t> Integer();

  // Calls visit(Key, Value) for each member. False if the text is broken or this is not an object.
  template <typename Visit>
  bool ForEachMember(Visit&& visit) {
    simdjson::ondemand::object object;
    if (value_.get_object().get(object) != simdjson::SUCCESS) return false;
    return Members(object, visit);
  }
  // Calls visit(Value) for each element. False if the text is broken or this is not an array.
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

  // The text of this value as written, nested values included, cut to `limit` bytes.
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

// Walks a document that is one object. Changes only the capacity of `text`. An Error has the byte
// offset and what was expected there.
Status WalkObject(std::string& text, const std::string& name,
                  const std::function<void(Key, Value)>& visit);

// Where text stops being JSON, and what was expected there. `at_end`: the text is only cut short.
// For messages only.
struct SyntaxError {
  size_t offset = 0;
  bool at_end = false;
  std::string expected;
};
std::optional<SyntaxError> FindSyntaxError(std::string_view text);

// "expected ',' or '}', found 'x'"
std::string Describe(const SyntaxError& error, std::string_view text);

// Replaces bytes that a strict reader refuses, in place: invalid UTF-8 becomes '?', control
// characters become spaces. Returns how many were changed; `first` is the position of the first.
size_t Sanitize(char* text, size_t size, size_t& first);

}  // namespace beryl::json
