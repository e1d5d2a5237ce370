// A client of HTTP/1.1 for one request at a time, over a socket or TLS. Bodies go and come in
// pieces and are never whole in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace beryl {

// "http://127.0.0.1:8420", "https://box.example.org/beryl".
struct HttpPlace {
  bool is_secure = false;
  std::string host;
  std::string port;
  std::string path;  // without a slash at its end; empty: all of the host

  std::string url() const;
};
// kMisuse if it is no such address.
Result<HttpPlace> ParseHttpPlace(std::string_view url);
// A value in a query: everything but letters, digits and "-._~" is escaped.
std::string EscapeForQuery(std::string_view text);

struct HttpCall {
  std::string method = "GET";
  std::string target;  // below the place's path: "/api/v1/runs?name=x"
  std::vector<std::pair<std::string, std::string>> fields = {};
  // The body: its size, and who gives the next piece of it, which is valid until the call after.
  std::optional<uint64_t> body_bytes = {};
  std::function<Result<std::string_view>()> next_piece = {};
};

struct HttpReply {
  int status = 0;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case
  std::string body;                                         // what nobody took

  // Its value; empty if there is none.
  std::string_view Field(std::string_view name) const;
};

// Sends a request and reads the answer. A body of status 200 goes to `take`, if there is one, in
// pieces; any other is kept, up to a megabyte. An answer that comes before the request was sent
// ends the sending. kIo if there is no whole answer: the message names the server and says why.
Result<HttpReply> CallHttp(const HttpPlace& place, const HttpCall& call,
                           const std::function<Status(std::string_view)>& take = {});

}  // namespace beryl
