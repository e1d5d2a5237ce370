#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"
#include "server/http/client.h"

namespace beryl::server {

Result<HttpTarget> ParseTarget(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto bad = [&](std::string_view why) {
    return MisuseError(fmt::format("'{}': {}; expected http://HOST:PORT", Printable(url), why));
  };
  if (url.starts_with("https://")) {
    return bad(
        "metrics are sent unencrypted, to a collector on this machine or network that "
        "forwards them");
  }
  if (!url.starts_with(kScheme)) return bad("this is not an address to send metrics to");
  std::string_view rest = url.substr(kScheme.size());
  HttpTarget target;
  const size_t slash = rest.find('/');
  target.path = slash == std::string_view::npos ? "" : rest.substr(slash);
  rest = rest.substr(0, slash);
  size_t colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad("a ']' is missing");
    target.host = rest.substr(1, close - 1);
    colon = close + 1 < rest.size() && rest[close + 1] == ':' ? close + 1 : std::string_view::npos;
  } else {
    target.host = rest.substr(0, colon);
  }
  target.port = colon == std::string_view::npos ? "4318" : rest.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(target.port.data(), target.port.data() + target.port.size(), port);
  if (error != std::errc() || end != target.port.data() + target.port.size() || port == 0) {
    return bad("the port is not a number");
  }
  const auto is_odd = [](char letter) { return letter <= ' ' || letter == 0x7f; };
  for (const std::string& part : {target.host, target.path}) {
    for (const char letter : part) {
      if (is_odd(letter)) return bad("it has characters that an address cannot have");
    }
  }
  if (target.host.empty()) return bad("the host is missing");
  return target;
}

}  // namespace beryl::server
