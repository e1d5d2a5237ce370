// What the API makes of bodies and queries that others wrote: an answer of a documented status, and
// a problem that is one. The input: a method and a target in the first line, then the body.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "require.h"
#include "server/api/api.h"
#include "server/http/server.h"

namespace beryl::server {
namespace {

using fuzz::Require;

const HttpOptions& Options() {
  static Api& api = *new Api;
  static const HttpOptions& options = *[] {
    auto* made = new HttpOptions;
    made->limits.head_bytes = 16 << 10;
    made->limits.target_bytes = 8 << 10;
    AddModelRoutes(api, made->routes);
    AddContractRoutes(made->routes);
    return made;
  }();
  return options;
}

// Thousands of layers, and sweeps over hundreds of sizes, are sound but slow.
bool IsLarge(std::string_view text) {
  size_t digits = 0;
  for (const char letter : text) {
    if (digits > 0 && (letter == 'e' || letter == 'E')) return true;
    digits = letter >= '0' && letter <= '9' ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

void Try(std::string_view text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  const std::string_view body = end == std::string_view::npos ? "" : text.substr(end + 1);
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.size() > 200 || IsLarge(text)) return;
  const std::string request =
      fmt::format("{} /api/v1/{} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}", line.substr(0, blank),
                  line.substr(blank + 1), body.size(), body);
  const HttpAnswer answer = AnswerTo(request, Options());
  constexpr int kDocumented[] = {200, 400, 404, 405, 413, 414, 422, 431, 501, 505};
  Require(std::find(std::begin(kDocumented), std::end(kDocumented), answer.status) !=
              std::end(kDocumented),
          "an answer has a documented status");
  Require(!answer.body.empty(), "it says something");
  if (answer.type != "application/problem+json") return;
  Require(answer.body.find(fmt::format("\"status\":{}", answer.status)) != std::string::npos,
          "a problem is that of the answer");
}

}  // namespace
}  // namespace beryl::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  beryl::server::Try({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
