// JSON output. Takes care of commas, quotes and escapes. Numbers are written so that reading them
// back gives the same double; a number that is not finite is unknown and written as null.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/units.h"

namespace beryl {

// The name of a member that is written many times: quoted once.
class JsonName {
 public:
  explicit JsonName(std::string_view name);

 private:
  friend class JsonWriter;
  std::string quoted_;  // with its colon
};

class JsonWriter {
 public:
  // `indent` 0 writes everything on one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& BeginObject() { return Open('{', '}'); }
  JsonWriter& BeginArray() { return Open('[', ']'); }
  JsonWriter& End();  // ends the innermost object or array
  JsonWriter& Key(std::string_view name);
  JsonWriter& Key(const JsonName& name);

  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(double number);
  JsonWriter& Value(bool truth);
  JsonWriter& Value(std::integral auto number) {
    using Number = decltype(number);
    return Whole(std::conditional_t<std::is_signed_v<Number>, int64_t, uint64_t>{number});
  }
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
  template <typename Name, typename T>
  JsonWriter& Member(const Name& name, const T& value) {
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
  JsonWriter& MoreMembers(std::string_view text);

  std::string Take();

 private:
  struct Level {
    char close;
    bool empty = true;
  };

  JsonWriter& Open(char open, char close);
  JsonWriter& Raw(std::string_view text);
  template <typename Number>
  JsonWriter& Whole(Number number);
  // Room for `bytes` more, and where they go; `Advance` says up to where they went.
  char* Room(size_t bytes);
  void Advance(const char* end) { size_ = static_cast<size_t>(end - text_.data()); }
  // The same behind the comma and the line break that the next value needs.
  char* Begin(size_t bytes);
  char* NewLine(char* at) const;
  void Escape(std::string_view line);

  int indent_;
  bool after_key_ = false;
  std::vector<Level> levels_;
  std::string text_;  // the first `size_` bytes are written
  size_t size_ = 0;
};

}  // namespace beryl
