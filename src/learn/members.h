// Names the members of a JSON object once, for both reading and writing, and validates them. A type
// lists its members:
//
//   void Members(auto& io, As<LawTerm> auto& term) {
//     io("value", term.value);
//     io("deviation", term.deviation);
//     io.Require(term.deviation >= 0, "deviation", "has to be from 0");
//   }
//
// A third argument, `needed`, says whether the member is required. Unknown values (NaN, nullopt)
// are not written. Types that are not JSON objects have their own functions Read and Write.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/member_name.h"
#include "base/units.h"
#include "types/dataset.h"

namespace beryl::learn {

inline std::string_view DataLevelName(size_t level) { return LevelName(kDataLevels[level]); }

// T for reading, const T for writing.
template <typename T, typename Of>
concept As = std::same_as<std::remove_const_t<T>, Of>;

// Keeps the first error, with the member's name, and ignores everything after it.
// Not on simdjson's DOM, which keeps no text of a value: messages quote what the file has.
class MemberReader {
 public:
  // Empty if there is no error so far.
  const std::string& why() const { return why_; }
  bool ok() const { return why_.empty(); }
  void Fail(std::string_view path, std::string_view what);
  void Expected(json::Value value, std::string_view path, std::string_view what);

  // Calls visit(name, value) for each member of an object.
  template <typename Visit>
  void Walk(json::Value value, const std::string& path, Visit&& visit) {
    if (!ok()) return;
    if (!value.IsObject()) return Expected(value, path, "an object");
    const bool sound = value.ForEachMember([&](json::Key key, json::Value member) {
      if (ok()) visit(json::PlainMemberName(key), member);
    });
    if (!sound) Fail(path, "cannot be read");
  }

 private:
  std::string why_;
};

// Members may come in any order. Each is read when it comes; checks that involve several members
// run after the last one.
class ObjectReader {
 public:
  static constexpr bool kReads = true;

  ObjectReader(MemberReader& in, std::string path) : in_(in), path_(std::move(path)) {}

  template <typename T>
  void Take(std::string name, json::Value value, T& into) {
    seen_.push_back(std::move(name));
    value_ = value;
    found_ = false;
    Members(*this, into);
    value_.reset();
  }
  template <typename T>
  void Finish(T& into) {
    Members(*this, into);
  }

  template <typename T>
  void operator()(std::string_view name, T&& into, bool needed = true) {
    if (!value_) {
      const bool seen = std::find(seen_.begin(), seen_.end(), name) != seen_.end();
      return Require(seen || !needed, name, "is missing");
    }
    if (name != seen_.back()) return;
    found_ = true;
    Read(in_, *value_, PathOf(name), into);
  }
  // An error about the member `name`, or about the object itself if `name` is empty.
  void Require(bool holds, std::string_view name, std::string_view what) {
    if (!value_ && !holds) in_.Fail(PathOf(name), what);
  }
  void NothingElse(std::string_view what) {
    if (value_ && !found_) in_.Fail(PathOf(seen_.back()), what);
  }

 private:
  std::string PathOf(std::string_view name) const {
    return path_ + (path_.empty() || name.empty() ? "" : ".") + std::string(name);
  }

  MemberReader& in_;
  std::string path_;
  std::vector<std::string> seen_;
  std::optional<json::Value> value_;  // of the current member; empty: no members are left
  bool found_ = false;                // the type has the current member
};

// These leave `into` unchanged if the value has a different type.
void Read(MemberReader& in, json::Value value, const std::string& path, double& into);
void Read(MemberReader& in, json::Value value, const std::string& path, uint64_t& into);
void Read(MemberReader& in, json::Value value, const std::string& path, bool& into);
void Read(MemberReader& in, json::Value value, const std::string& path, std::string& into);
template <typename Unit>
void Read(MemberReader& in, json::Value value, const std::string& path, Scalar<Unit>& into) {
  Read(in, value, path, into.value);
}

template <typename T>
void ReadObject(MemberReader& in, json::Value value, const std::string& path, T& into) {
  ObjectReader object(in, path);
  in.Walk(value, path, [&](std::string name, json::Value member) {
    object.Take(std::move(name), member, into);
  });
  object.Finish(into);
}
template <typename T>
void Read(MemberReader& in, json::Value value, const std::string& path, T& into) {
  ReadObject(in, value, path, into);
}
template <typename T>
void Read(MemberReader& in, json::Value value, const std::string& path, std::optional<T>& into) {
  Read(in, value, path, into.emplace());
}
template <typename T>
void Read(MemberReader& in, json::Value value, const std::string& path, std::vector<T>& into) {
  if (!value.IsArray()) {
    constexpr bool kText = std::same_as<T, std::string>;
    return in.Expected(value, path, kText ? "a list of strings" : "a list of numbers");
  }
  into.clear();
  const bool sound = value.ForEachElement([&](json::Value element) {
    T& one = into.emplace_back();
    if (in.ok()) Read(in, element, fmt::format("{}[{}]", path, into.size() - 1), one);
  });
  if (!sound) in.Fail(path, "cannot be read");
}
template <typename T>
void Read(MemberReader& in, json::Value value, const std::string& path,
          std::map<std::string, T>& into) {
  in.Walk(value, path, [&](const std::string& name, json::Value member) {
    const auto [at, added] = into.try_emplace(name);
    if (!added) in.Fail(path + "." + name, "is there twice");
    Read(in, member, path + "." + name, at->second);
  });
}

struct MemberWriter {
  static constexpr bool kReads = false;

  template <typename T>
  void operator()(std::string_view name, const T& value, bool = true) {
    if (!IsThere(*this, value)) return;
    json.Key(name);
    Write(*this, value);
  }
  void Require(bool, std::string_view, std::string_view) {}
  void NothingElse(std::string_view) {}

  JsonWriter& json;
};

template <typename T>
bool IsThere(const MemberWriter&, const T&) {
  return true;
}
inline bool IsThere(const MemberWriter&, double value) { return !std::isnan(value); }
template <typename Unit>
bool IsThere(const MemberWriter& out, const Scalar<Unit>& quantity) {
  return IsThere(out, quantity.value);
}
template <typename T>
bool IsThere(const MemberWriter&, const std::optional<T>& value) {
  return value.has_value();
}

template <typename T>
void WriteObject(MemberWriter& out, const T& object) {
  out.json.BeginObject();
  Members(out, object);
  out.json.End();
}
template <typename T>
void Write(MemberWriter& out, const T& value) {
  if constexpr (requires { out.json.Value(value); }) {
    out.json.Value(value);
  } else {
    WriteObject(out, value);
  }
}
template <typename T>
void Write(MemberWriter& out, const std::optional<T>& value) {
  Write(out, *value);
}
template <typename T>
void Write(MemberWriter& out, const std::vector<T>& list) {
  out.json.BeginArray();
  for (const T& one : list) Write(out, one);
  out.json.End();
}
template <typename T>
void Write(MemberWriter& out, const std::map<std::string, T>& by_name) {
  out.json.BeginObject();
  for (const auto& [name, one] : by_name) out(name, one);
  out.json.End();
}

// An array whose elements are members. `below_0` is the error message for a negative element.
template <typename Array>
struct NamedArray {
  Array& values;
  std::string_view (*name)(size_t);
  std::string_view below_0;
};
template <typename Array>
NamedArray<Array> ByName(Array& values, std::string_view (*name)(size_t),
                         std::string_view below_0 = {}) {
  return {values, name, below_0};
}
template <typename Array>
void Members(auto& io, const NamedArray<Array>& named) {
  for (size_t i = 0; i < named.values.size(); ++i) {
    auto& value = named.values[i];
    io(named.name(i), value, false);
    if constexpr (As<std::remove_reference_t<decltype(value)>, double>) {
      io.Require(named.below_0.empty() || !(value < 0), named.name(i), named.below_0);
    }
  }
}

}  // namespace beryl::learn
