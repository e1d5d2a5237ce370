// JSON output. Takes care of commas, quotes and escapes. Numbers are written so that reading them
// back gives the same double; a number that is not finite is unknown and written as null.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace beryl {

class JsonWriter {
 public:
  // `indent` 0 writes everything on one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& BeginObject() { return Open('{', '}'); }
  JsonWriter& BeginArray() { return Open('[', ']'); }
  JsonWriter& End();  // ends the innermost object or array
  JsonWriter& Key(std::string_view name);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);
  JsonWriter& Value(bool truth);
  JsonWriter& Value(std::integral auto number) { return Raw(std::to_string(number)); }
  template <typename Unit>
  JsonWriter& Value(Scalar<Unit> quantity) {
    return Value(quantity.value);
  }
  template <typename T>
  JsonWriter& Value(const std::optional<T>& value) {
    return value ? Value(*value) : Raw("null");
  }
  // A list becomes an array.
  template <std::ranges::input_range List>
  requires(!std::convertible_to<const List&, std::string_view>)
      JsonWriter& Value(const List& list) {
    BeginArray();
    for (const auto& item : list) Value(item);
    return End();
  }
  template <typename T>
  JsonWriter& Member(std::string_view name, const T& value) {
    return Key(name).Value(value);
  }
  // A member that is an array of objects; `write` writes the members of one item.
  template <typename Items, typename Write>
  JsonWriter& Objects(std::string_view name, const Items& items, Write&& write) {
    Key(name).BeginArray();
    for (const auto& item : items) {
      BeginObject();
      write(item);
      End();
    }
    return End();
  }
  // A member that is an object, from pairs of name and value.
  template <typename Pairs>
  JsonWriter& Members(std::string_view name, const Pairs& pairs) {
    Key(name).BeginObject();
    for (const auto& [key, value] : pairs) Member(key, value);
    return End();
  }

  // A text of several lines, whose line ends stay.
  JsonWriter& Lines(std::string_view text);
  // A value that is JSON already, and valid.
  JsonWriter& Json(std::string_view json) { return Raw(json); }
  // Appends ready-made text of further members, each preceded by a comma.
  JsonWriter& MoreMembers(std::string_view text) {
    text_ += text;
    return *this;
  }

  std::string Take();

 private:
  JsonWriter& Open(char open, char close);
  JsonWriter& Raw(std::string_view text);
  void Escape(std::string_view line);
  void Separate();
  void NewLine();

  struct Level {
    char close;
    bool empty = true;
  };
  int indent_;
  bool after_key_ = false;
  std::vector<Level> levels_;
  std::string text_;
};

}  // namespace beryl
