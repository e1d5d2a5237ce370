// A model's configuration: the keys of a Hugging Face config.json, read by the families with the
// defaults that the library has.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "types/note.h"

namespace beryl::models {

// A key and the other names that the library takes for it (its attribute_map).
using Keys = std::initializer_list<std::string_view>;

// The names that families have for the hidden size.
inline constexpr std::array<std::string_view, 4> kHiddenSizes = {"hidden_size", "n_embd", "d_model",
                                                                 "dim"};

// Reading never fails: a value that cannot be is noted as the error, the first one stays, and the
// default is given instead, so that a family reads like the model. Ask error() before building.
class Config {
 public:
  // The text of a config.json. Members of objects are read as "rope_parameters.rope_theta".
  static Result<Config> Parse(std::string text, const std::string& name);

  // As `--set key=value` says; the value as it would stand in the file, strings without quotes.
  void Set(const std::string& key, const std::string& value);

  // Where hidden sizes were set: heads and inner sizes that the file has and nobody set grow and
  // shrink with them, so that heads stay as wide as they were. Returns what was changed;
  // nothing: nothing was.
  std::optional<Note> FollowHiddenSize();

  // From 1 to 2^24. `otherwise` where the key is missing or null.
  int64_t Int(Keys keys, int64_t otherwise);
  // Null is nothing; a missing key is `otherwise`.
  std::optional<int64_t> MaybeInt(Keys keys, std::optional<int64_t> otherwise);
  // One whole number for both, or a list of two.
  std::pair<int64_t, int64_t> Pair(Keys keys, int64_t otherwise);
  double Number(Keys keys, double otherwise);
  std::optional<double> MaybeNumber(Keys keys, std::optional<double> otherwise);  // as MaybeInt
  bool Bool(Keys keys, bool otherwise);
  std::string Text(Keys keys, const std::string& otherwise);
  std::vector<std::string> Texts(Keys keys);       // a list of strings; empty: missing or null
  int64_t Members(std::string_view object) const;  // how many; 0: missing or null

  // Notes an error unless `holds`: "NAME: KEY = VALUE: WHY".
  void Require(bool holds, std::string_view key, const std::string& why);

  const std::string& name() const { return name_; }
  const std::optional<Error>& error() const { return error_; }
  // Keys of Set that no family read: they would change nothing, so they are mistakes.
  std::vector<std::string> SetInVain() const;
  const std::set<std::string, std::less<>>& read() const { return read_; }

 private:
  // The one of `keys` that is there, as its text; refuses two that differ.
  const std::string* Find(Keys keys, std::string& key);
  std::optional<int64_t> WholeNumber(std::string_view key, std::string_view text);
  void Fail(std::string_view key, const std::string& why);

  std::string name_;
  std::map<std::string, std::string, std::less<>> values_;  // as they stand, strings unquoted
  std::map<std::string, std::string, std::less<>> file_;    // before anything was set
  std::set<std::string, std::less<>> set_;
  std::set<std::string, std::less<>> read_;
  std::optional<Error> error_;
};

}  // namespace beryl::models
