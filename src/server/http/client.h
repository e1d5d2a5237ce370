// A client of HTTP, for one request.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace beryl::server {

// "http://HOST:PORT[/PATH]".
struct HttpTarget {
  std::string host;
  std::string port;
  std::string path;
};
Result<HttpTarget> ParseTarget(std::string_view url);

// Sends and returns the status; takes at most `patience`, plus the host lookup. `stop`: an eventfd
// that cancels it at once; -1: none.
Result<int> Post(const HttpTarget& target, std::string_view type, std::string_view body,
                 Nanos patience, int stop = -1);

}  // namespace beryl::server
