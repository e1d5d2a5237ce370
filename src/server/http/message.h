// Requests of HTTP and their answers. Nothing here knows of sockets: http/server.h has the
// connections.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beryl::server {

struct HttpField {
  std::string name;  // of a request: in lower case
  std::string value;
};

struct HttpRequest {
  std::string method;                   // "GET"
  std::string path;                     // "/metrics", as it was sent, without the query
  std::string query = {};               // "a=b"; empty: none
  std::string body = {};                // empty if it is taken in pieces (http/routes.h)
  std::vector<HttpField> fields = {};   // of the head
  std::vector<std::string> parts = {};  // of the path, those that its route leaves open; decoded
  std::string peer = {};                // who sent it, for logs: "192.0.2.7", "user 1000"
  bool is_encrypted = false;

  // The first field of this name (in lower case), or "".
  std::string_view Field(std::string_view name) const;
};

// A body that is made while it is sent. Called on worker threads, one call at a time.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // The next bytes. Empty: none yet; it is asked again soon. Nothing: the end.
  virtual std::optional<std::string> Next() = 0;
  // The bytes in all, if they are known.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }
};

// Whether later requests may get the same answer.
enum class HttpReuse : uint8_t {
  kNever,    // it must not be kept by anybody: no-store
  kCheck,    // a client may keep it, and asks every time whether it is still true: no-cache
  kKeep,     // this server keeps it as long as it runs; for clients as kCheck
  kForever,  // as kKeep, and clients need not ask again: its address changes with its content
};

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<HttpField> fields = {};
  HttpReuse reuse = HttpReuse::kNever;
  std::shared_ptr<HttpStream> stream = {};  // instead of `body`
};

// "a%20b" is "a b". Nothing if an escape is not one. `plus_is_blank`: as in queries.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank = false);
std::string PercentEncode(std::string_view text);

// The members of a query in order, decoded. An error names the one that cannot be decoded.
Result<std::vector<HttpField>> ParseQuery(std::string_view query);

// Whether a client that sent this Accept-Encoding takes gzip.
bool TakesGzip(std::string_view accept_encoding);
// Whether one of the tags in an If-None-Match is `tag`, or it is "*".
bool HasTag(std::string_view if_none_match, std::string_view tag);

// "OK"
std::string_view ReasonOf(int status);

}  // namespace beryl::server
