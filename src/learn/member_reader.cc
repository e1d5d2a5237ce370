#include "learn/member_reader.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::learn {
namespace {

constexpr size_t kLongestToken = 40;

}  // namespace

void MemberReader::Fail(std::string_view path, std::string_view what) {
  if (ok()) why_ = fmt::format("{} {}", Printable(path), what);
}

void MemberReader::Expected(json::Value value, std::string_view path, std::string_view what) {
  const std::string token = Printable(value.Token().substr(0, kLongestToken));
  Fail(path, fmt::format("has to be {}, not {}", what, token));
}

void MemberReader::Read(json::Value value, std::string_view path, double& into) {
  const std::string_view token = value.Token();
  if (const auto number = ParseNumber(token)) {
    into = *number;
  } else {
    Expected(value, path, "a finite number");
  }
}

void MemberReader::Read(json::Value value, std::string_view path, uint64_t& into) {
  const std::string_view token = value.Token();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || end != token.data() + token.size()) {
    return Expected(value, path, "a whole number from 0");
  }
  into = number;
}

void MemberReader::Read(json::Value value, std::string_view path, bool& into) {
  const std::string_view token = value.Token();
  if (token != "true" && token != "false") return Expected(value, path, "true or false");
  into = token == "true";
}

void MemberReader::Read(json::Value value, std::string_view path, std::string& into) {
  if (const auto text = value.String()) {
    into = *text;
  } else {
    Expected(value, path, "a string");
  }
}

void MemberReader::Read(json::Value value, std::string_view path, std::vector<double>& into) {
  if (!value.IsArray()) return Expected(value, path, "a list of numbers");
  into.clear();
  const bool sound = value.ForEachElement([&](json::Value element) {
    double number = 0;
    if (ok()) Read(element, fmt::format("{}[{}]", path, into.size()), number);
    into.push_back(number);
  });
  if (!sound) Fail(path, "cannot be read");
}

void MemberReader::Read(json::Value value, std::string_view path, std::vector<std::string>& into) {
  if (!value.IsArray()) return Expected(value, path, "a list of strings");
  into.clear();
  const bool sound = value.ForEachElement([&](json::Value element) {
    std::string text;
    if (ok()) Read(element, fmt::format("{}[{}]", path, into.size()), text);
    into.push_back(std::move(text));
  });
  if (!sound) Fail(path, "cannot be read");
}

}  // namespace beryl::learn
