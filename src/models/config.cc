#include "models/config.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace beryl::models {
namespace {

// Products of a few of these fit in 64 bits.
constexpr double kLargest = 1 << 24;
// Lists of strings (layer_types) are the longest values that are read.
constexpr size_t kLongestValue = 1 << 16;

std::string TextOf(json::Value value) {
  if (value.IsString()) return std::string(value.String().value_or(""));
  return std::string(value.Token());
}

// A list of strings, one per line; other elements unchanged.
std::string ListOf(json::Value value) {
  std::string text;
  value.ForEachElement([&](json::Value element) {
    if (element.IsObject() || element.IsArray() || text.size() > kLongestValue) return;
    text += TextOf(element) + '\n';
  });
  return text;
}

}  // namespace

Result<Config> Config::Parse(std::string text, const std::string& name) {
  Config config;
  config.name_ = name;
  TRY(json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    const std::string member(key.Text());
    if (value.IsArray()) {
      config.values_[member] = ListOf(value);
    } else if (value.IsObject()) {
      value.ForEachMember([&](json::Key inner, json::Value part) {
        if (part.IsObject() || part.IsArray()) return;
        config.values_[member + "." + std::string(inner.Text())] = TextOf(part);
      });
    } else {
      config.values_[member] = TextOf(value);
    }
  }));
  config.file_ = config.values_;
  return config;
}

void Config::Set(const std::string& key, const std::string& value) {
  values_[key] = value;
  set_.insert(key);
}

std::optional<Note> Config::FollowHiddenSize() {
  static constexpr std::array kFollowing = {"num_attention_heads",
                                            "n_head",
                                            "n_heads",
                                            "num_heads",
                                            "encoder_attention_heads",
                                            "decoder_attention_heads",
                                            "num_key_value_heads",
                                            "intermediate_size",
                                            "hidden_dim",
                                            "n_inner",
                                            "dff",
                                            "d_ff",
                                            "encoder_ffn_dim",
                                            "decoder_ffn_dim"};
  for (const std::string_view hidden : kHiddenSizes) {
    if (set_.count(hidden) == 0) continue;
    // The file may use another name of the key.
    std::optional<double> before;
    for (const std::string_view name : kHiddenSizes) {
      const auto at = file_.find(name);
      if (at != file_.end() && !before) before = ParseNumber(at->second);
    }
    const std::string& value = values_.find(hidden)->second;
    const auto after = ParseNumber(value);
    if (!before || !after || !(*before > 0) || *before == *after) return std::nullopt;
    std::string changed;
    for (const char* name : kFollowing) {
      const auto at = file_.find(name);
      if (at == file_.end() || set_.count(name) > 0) continue;
      const auto number = ParseNumber(at->second);
      if (!number) continue;
      const double follows = *number * *after / *before;
      if (follows < 1 || follows != std::floor(follows) || follows > kLargest) continue;
      values_[name] = fmt::format("{:.0f}", follows);
      changed += fmt::format("{}{} = {:.0f}", changed.empty() ? "" : ", ", name, follows);
    }
    if (changed.empty()) return std::nullopt;
    return Note(NoteKind::kAssumedSizes, fmt::format("{} = {}", hidden, value), {changed});
  }
  return std::nullopt;
}

const std::string* Config::Find(Keys keys, std::string& key) {
  const std::string* found = nullptr;
  for (const std::string_view candidate : keys) {
    read_.emplace(candidate);
    const auto at = values_.find(candidate);
    if (at == values_.end()) continue;
    // A value set on the command line overrides other names of the same key.
    const bool set = set_.count(candidate) > 0;
    if (found != nullptr && *found != at->second && set == (set_.count(key) > 0)) {
      Fail(key, fmt::format("contradicts '{}' = {}, another name of the same thing; leave one out",
                            candidate, Printable(at->second)));
    }
    if (found == nullptr || set) {
      found = &at->second;
      key = candidate;
    }
  }
  return found;
}

void Config::Fail(std::string_view key, const std::string& why,
                  std::vector<std::string_view> options) {
  if (error_) return;
  const auto at = values_.find(key);
  error_ = InvalidError(
      fmt::format(
          "{}: '{}'{}: {}", name_, key,
          at == values_.end() ? std::string() : " = " + Ellipsize(Printable(at->second), 60), why),
      std::move(options));
}

void Config::Require(bool holds, std::string_view key, const std::string& why,
                     std::vector<std::string_view> options) {
  if (!holds) Fail(key, why, std::move(options));
}

std::optional<int64_t> Config::WholeNumber(std::string_view key, std::string_view text) {
  const auto number = ParseNumber(text);
  if (!number || *number < 1 || *number > kLargest || *number != std::floor(*number)) {
    Fail(key, "must be a whole number from 1 to 16,777,216");
    return std::nullopt;
  }
  return static_cast<int64_t>(*number);
}

std::optional<int64_t> Config::MaybeInt(Keys keys, std::optional<int64_t> otherwise) {
  std::string key;
  const std::string* text = Find(keys, key);
  if (text == nullptr) return otherwise;
  if (*text == "null") return std::nullopt;
  const auto number = WholeNumber(key, *text);
  return number ? number : otherwise;
}

std::pair<int64_t, int64_t> Config::Pair(Keys keys, int64_t otherwise) {
  std::string key;
  const std::string* text = Find(keys, key);
  if (text == nullptr || *text == "null") return {otherwise, otherwise};
  std::vector<int64_t> numbers;
  for (const std::string_view item : Split(*text, '\n')) {
    if (!item.empty()) numbers.push_back(WholeNumber(key, item).value_or(otherwise));
  }
  Require(numbers.size() == 1 || numbers.size() == 2, key, "must be one whole number or two");
  if (numbers.empty()) return {otherwise, otherwise};
  return {numbers.front(), numbers.back()};
}

int64_t Config::Int(Keys keys, int64_t otherwise) {
  return MaybeInt(keys, otherwise).value_or(otherwise);
}

double Config::Number(Keys keys, double otherwise) {
  return MaybeNumber(keys, otherwise).value_or(otherwise);
}

std::optional<double> Config::MaybeNumber(Keys keys, std::optional<double> otherwise) {
  std::string key;
  const std::string* text = Find(keys, key);
  if (text == nullptr) return otherwise;
  if (*text == "null") return std::nullopt;
  const auto number = ParseNumber(*text);
  if (!number) Fail(key, "must be a number");
  return number ? number : otherwise;
}

bool Config::Bool(Keys keys, bool otherwise) {
  std::string key;
  const std::string* text = Find(keys, key);
  if (text == nullptr || *text == "null") return otherwise;
  if (*text == "true" || *text == "True") return true;
  if (*text == "false" || *text == "False") return false;
  Fail(key, "must be true or false");
  return otherwise;
}

std::string Config::Text(Keys keys, const std::string& otherwise) {
  std::string key;
  const std::string* text = Find(keys, key);
  return text == nullptr || *text == "null" ? otherwise : *text;
}

std::vector<std::string> Config::Texts(Keys keys) {
  std::string key;
  const std::string* text = Find(keys, key);
  std::vector<std::string> list;
  if (text == nullptr || *text == "null") return list;
  for (const std::string_view item : Split(*text, '\n')) {
    if (!item.empty()) list.emplace_back(item);
  }
  return list;
}

int64_t Config::Members(std::string_view object) const {
  const std::string before = std::string(object) + ".";
  int64_t members = 0;
  for (auto at = values_.lower_bound(before); at != values_.end(); ++at) {
    if (!at->first.starts_with(before)) break;
    ++members;
  }
  return members;
}

std::vector<std::string> Config::SetInVain() const {
  std::vector<std::string> vain;
  for (const std::string& key : set_) {
    if (read_.count(key) == 0) vain.push_back(key);
  }
  return vain;
}

}  // namespace beryl::models
