#include "learn/members.h"

#include <charconv>

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
  Fail(path, fmt::format("must be {}, not {}", what, token));
}

void Read(MemberReader& in, json::Value value, const std::string& path, double& into) {
  const auto number = ParseNumber(value.Token());
  if (!number) return in.Expected(value, path, "a finite number");
  into = *number;
}

void Read(MemberReader& in, json::Value value, const std::string& path, uint64_t& into) {
  const std::string_view token = value.Token();
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || end != token.data() + token.size()) {
    return in.Expected(value, path, "a whole number from 0");
  }
  into = number;
}

void Read(MemberReader& in, json::Value value, const std::string& path, bool& into) {
  const std::string_view token = value.Token();
  if (token != "true" && token != "false") return in.Expected(value, path, "true or false");
  into = token == "true";
}

void Read(MemberReader& in, json::Value value, const std::string& path, std::string& into) {
  const auto text = value.String();
  if (!text) return in.Expected(value, path, "a string");
  into = *text;
}

}  // namespace beryl::learn
