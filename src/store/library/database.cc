#include "store/library/database.h"

#include <optional>

namespace beryl::store {

int64_t WholeOf(const SqlValue& value) {
  const auto* const whole = std::get_if<int64_t>(&value);
  return whole != nullptr ? *whole : 0;
}

std::string TextOf(const SqlValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : std::string();
}

std::string BytesOf(const SqlValue& value) {
  const auto* const blob = std::get_if<Blob>(&value);
  return blob != nullptr ? blob->bytes : std::string();
}

std::optional<double> NumberOf(const SqlValue& value) {
  if (const auto* const whole = std::get_if<int64_t>(&value)) return static_cast<double>(*whole);
  const auto* const number = std::get_if<double>(&value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<Nanos> TimeOf(const SqlValue& value) {
  const auto* const whole = std::get_if<int64_t>(&value);
  return whole != nullptr ? std::optional(Nanos{*whole}) : std::nullopt;
}

Result<Nanos> Database::Now(Session& session) const {
  const auto rows = TRY(session.Execute(std::string("SELECT ") + dialect().now));
  return Nanos{WholeOf(rows.at(0).at(0))};
}

std::string WithoutPassword(const std::string& url) {
  std::string name = url.substr(0, url.find('?'));
  const size_t user = name.find("://") + 3;
  const size_t at = name.rfind('@');
  const size_t colon = name.find(':', user);
  if (at != std::string::npos && colon < at) name.erase(colon, at - colon);
  return name;
}

std::string Placeholders(size_t first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "$" : ", $") + std::to_string(first + i);
  }
  return text;
}

}  // namespace beryl::store
