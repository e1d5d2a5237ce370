#include "server/http/message.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

int ValueOfHex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

bool IsUnreserved(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') ||
         std::string_view("-._~").find(letter) != std::string_view::npos;
}

}  // namespace

std::string_view HttpRequest::Field(std::string_view name) const {
  for (const HttpField& field : fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = ValueOfHex(text[i + 1]);
      const int low = ValueOfHex(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char letter : text) {
    if (IsUnreserved(letter)) {
      encoded += letter;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
  }
  return encoded;
}

Result<std::vector<HttpField>> ParseQuery(std::string_view query) {
  std::vector<HttpField> members;
  if (query.empty()) return members;
  for (const std::string_view part : Split(query, '&')) {
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    auto name = PercentDecode(part.substr(0, equals), true);
    auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                  : PercentDecode(part.substr(equals + 1), true);
    if (!name || !value) {
      return MisuseError(
          fmt::format("'{}': a % in a query begins two hexadecimal digits", Printable(part)));
    }
    members.push_back({std::move(*name), std::move(*value)});
  }
  return members;
}

bool TakesGzip(std::string_view accept_encoding) {
  for (const std::string_view item : Split(accept_encoding, ',')) {
    const size_t semicolon = item.find(';');
    const std::string_view name = Trim(item.substr(0, semicolon));
    if (name != "gzip" && name != "*") continue;
    if (semicolon == std::string_view::npos) return true;
    const std::string_view weight = Trim(item.substr(semicolon + 1));
    return !weight.starts_with("q=0") ||
           weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

bool HasTag(std::string_view if_none_match, std::string_view tag) {
  for (std::string_view item : Split(if_none_match, ',')) {
    item = Trim(item);
    if (item == "*") return true;
    if (item.starts_with("W/")) item.remove_prefix(2);
    if (item == tag) return true;
  }
  return false;
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return "Unknown";
  }
}

}  // namespace beryl::server
