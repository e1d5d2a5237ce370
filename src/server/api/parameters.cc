#include "server/api/parameters.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::server {

Parameters::Parameters(const HttpRequest& request) {
  auto given = ParseQuery(request.query);
  if (given) {
    given_ = std::move(*given);
  } else {
    wrong_.push_back({"", "", given.error().message});
  }
  known_.resize(given_.size());
}

void Parameters::Refuse(std::string_view name, std::string detail) {
  wrong_.push_back({std::string(name), {}, std::move(detail)});
}

std::vector<std::string> Parameters::Texts(std::string_view name) {
  asked_.emplace_back(name);
  std::vector<std::string> values;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (given_[i].name != name) continue;
    known_[i] = true;
    values.push_back(given_[i].value);
  }
  return values;
}

std::string Parameters::Text(std::string_view name) { return Given(name).value_or(""); }

std::optional<std::string> Parameters::Given(std::string_view name) {
  std::vector<std::string> values = Texts(name);
  if (values.empty()) return std::nullopt;
  if (values.size() > 1) Refuse(name, "is given more than once");
  return std::move(values.front());
}

std::vector<std::string> Parameters::List(std::string_view name) {
  std::vector<std::string> items;
  for (const std::string& value : Texts(name)) {
    for (const std::string_view item : Split(value, ',')) {
      if (!Trim(item).empty()) items.emplace_back(Trim(item));
    }
  }
  return items;
}

std::optional<double> Parameters::Number(std::string_view name, double above) {
  const auto text = Given(name);
  if (!text) return std::nullopt;
  const auto number = ParseNumber(*text);
  if (number && *number > above) return number;
  Refuse(name, fmt::format("'{}': expected a number above {}", Printable(*text), above));
  return std::nullopt;
}

std::optional<int64_t> Parameters::Whole(std::string_view name, int64_t least, int64_t most) {
  const auto text = Given(name);
  if (!text) return std::nullopt;
  const auto number = ParseNumber(*text);
  if (number && std::floor(*number) == *number && *number >= static_cast<double>(least) &&
      *number <= static_cast<double>(most)) {
    return static_cast<int64_t>(*number);
  }
  Refuse(name,
         fmt::format("'{}': expected a whole number from {} to {}", Printable(*text), least, most));
  return std::nullopt;
}

bool Parameters::Flag(std::string_view name) {
  const std::vector<std::string> values = Texts(name);
  if (values.empty()) return false;
  const std::string& value = values.back();
  if (value == "true" || value == "1") return true;
  if (value != "false" && value != "0") {
    Refuse(name, fmt::format("'{}': expected true or false", Printable(value)));
  }
  return false;
}

std::string Parameters::Word(std::string_view name, const std::vector<std::string>& words) {
  const auto text = Given(name);
  if (!text) return "";
  if (std::find(words.begin(), words.end(), *text) != words.end()) return *text;
  Refuse(name, fmt::format("'{}': expected one of {}", Printable(*text), fmt::join(words, ", ")));
  return "";
}

bool Parameters::IsGiven(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const HttpField& field) {
    return field.name == name && !field.value.empty();
  });
}

void Parameters::Require(std::string_view name) {
  if (!IsGiven(name)) Refuse(name, "is missing");
}

const std::vector<ProblemPart>& Parameters::Wrong() {
  if (is_checked_) return wrong_;
  is_checked_ = true;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (known_[i]) continue;
    const auto nearest = std::min_element(asked_.begin(), asked_.end(), [&](auto& a, auto& b) {
      return EditDistance(a, given_[i].name) < EditDistance(b, given_[i].name);
    });
    const bool is_near = nearest != asked_.end() && EditDistance(*nearest, given_[i].name) <= 2;
    Refuse(given_[i].name,
           is_near
               ? fmt::format("there is no such parameter; did you mean '{}'?", *nearest)
               : fmt::format("there is no such parameter; there are {}", fmt::join(asked_, ", ")));
  }
  return wrong_;
}

}  // namespace beryl::server
