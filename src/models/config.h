// A model's configuration: the keys of a Hugging Face config.json. Families read them with the
// library's defaults.
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

// A key and its aliases in the library (its attribute_map).
using Keys = std::initializer_list<std::string_view>;

// The names of the hidden size in different families.
inline constexpr std::array<std::string_view, 4> kHiddenSizes = {"hidden_size", "n_embd", "d_model",
                                                                 "dim"};

// Reading never fails: an impossible value is recorded as the error (the first one is kept) and the
// default is returned, so that a family's code reads like the model. Check error() before building.
class Config {
 public:
  // The text of a config.json. Members of objects are read as "rope_parameters.rope_theta".
  static Result<Config> Parse(std::string text, const std::string& name);

  // Applies `--set key=value`. The value is written as in the file, strings without quotes.
  void Set(const std::string& key, const std::string& value);

  // If a hidden size was set, scales the heads and inner sizes in the file that were not set, so
  // that the size of a head stays the same. Returns a note of what changed, or nothing.
  std::optional<Note> FollowHiddenSize();

  // From 1 to 2^24. `otherwise` if the key is missing or null.
  int64_t Int(Keys keys, int64_t otherwise);
  // Null returns nothing; a missing key returns `otherwise`.
  std::optional<int64_t> MaybeInt(Keys keys, std::optional<int64_t> otherwise);
  // One integer for both, or a list of two.
  std::pair<int64_t, int64_t> Pair(Keys keys, int64_t otherwise);
  double Number(Keys keys, double otherwise);
  std::optional<double> MaybeNumber(Keys keys, std::optional<double> otherwise);  // as MaybeInt
  bool Bool(Keys keys, bool otherwise);
  std::string Text(Keys keys, const std::string& otherwise);
  std::vector<std::string> Texts(Keys keys);       // a list of strings; empty: missing or null
  int64_t Members(std::string_view object) const;  // number of members; 0: missing or null

  // Notes an error unless `holds`: "NAME: KEY = VALUE: WHY".
  void Require(bool holds, std::string_view key, const std::string& why,
               std::vector<std::string_view> options = {});

  const std::optional<Error>& error() const { return error_; }
  // Keys of Set that no family read. They have no effect, so they are mistakes.
  std::vector<std::string> SetInVain() const;
  const std::set<std::string, std::less<>>& read() const { return read_; }

 private:
  // The text of the one key in `keys` that is present; an error if two are present and differ.
  const std::string* Find(Keys keys, std::string& key);
  std::optional<int64_t> WholeNumber(std::string_view key, std::string_view text);
  void Fail(std::string_view key, const std::string& why,
            std::vector<std::string_view> options = {});

  std::string name_;
  std::map<std::string, std::string, std::less<>> values_;  // as written, strings unquoted
  std::map<std::string, std::string, std::less<>> file_;    // before anything was set
  std::set<std::string, std::less<>> set_;
  std::set<std::string, std::less<>> read_;
  std::optional<Error> error_;
};

}  // namespace beryl::models
