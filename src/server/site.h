// Decides whom an HTTP server answers. Loopback is not private: every page in a browser on this
// machine can send requests there, and a name that an attacker owns can be made to point there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/server.h"

namespace beryl::server {

struct SitePolicy {
  // Names, without ports, under which the server is known: "localhost", "127.0.0.1", "[::1]".
  std::vector<std::string> hosts;
  std::vector<std::string> allowed_origins;  // "https://example.org": pages that may use it
  std::string token;                         // empty: none is needed
  bool read_only = false;                    // requests that change something are refused
};

// Whether anybody may ask for this path, with a token or without. The page has nothing that is
// secret, and a browser needs it to send the token.
bool IsOpen(std::string_view path);
// Whether a POST to this path changes nothing.
bool OnlyAsks(std::string_view path);

HttpVerdict Judge(const SitePolicy& policy, const HttpRequest& request);

// The cookie that a browser keeps the token in.
std::string LoginCookie(const std::string& token, bool is_encrypted);

}  // namespace beryl::server
