#include "server/address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

Error NotAnAddress(std::string_view text, std::string_view why) {
  return MisuseError(fmt::format(
      "'{}' is not an address to listen on: {}; expected unix:PATH, 127.0.0.1:PORT or [::1]:PORT",
      Printable(text), why));
}

Result<Address> ParseUnix(std::string_view text, std::string_view path) {
  Address address;
  address.path = path;
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return NotAnAddress(text, "a path is missing");
  }
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    return NotAnAddress(text, fmt::format("a socket's path has at most {} bytes",
                                          sizeof(sockaddr_un::sun_path) - 1));
  }
  return address;
}

bool IsIpv6(const std::string& host) {
  in6_addr parsed{};
  return inet_pton(AF_INET6, host.c_str(), &parsed) == 1;
}

bool IsIpv4(const std::string& host) {
  in_addr parsed{};
  return inet_pton(AF_INET, host.c_str(), &parsed) == 1;
}

}  // namespace

bool Address::is_local() const {
  if (is_unix()) return true;
  if (is_ipv6) {
    in6_addr parsed{};
    return inet_pton(AF_INET6, host.c_str(), &parsed) == 1 && IN6_IS_ADDR_LOOPBACK(&parsed);
  }
  return host.starts_with("127.");
}

std::string Address::text() const {
  if (is_unix()) return "unix:" + path;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Address> ParseAddress(std::string_view text) {
  if (text.starts_with("unix:")) return ParseUnix(text, text.substr(5));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return NotAnAddress(text, "the port is missing");
  const std::string_view digits = text.substr(colon + 1);
  Address address;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return NotAnAddress(text, "the port is not a number from 0 to 65535");
  }
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  if (std::count(address.host.begin(), address.host.end(), '\0') > 0) {
    return NotAnAddress(text, "the host is not numeric");
  }
  address.is_ipv6 = brackets;
  if (brackets ? !IsIpv6(address.host) : !IsIpv4(address.host)) {
    return NotAnAddress(text, brackets ? "no IPv6 address between the brackets"
                                       : "the host is neither numeric nor localhost");
  }
  return address;
}

}  // namespace beryl::server
