// Which request is answered by what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "server/http/message.h"

namespace beryl::server {

// A body that is taken in pieces, as they come. Called on worker threads, one call at a time.
// Destroyed without Finish if the client goes away.
class HttpUpload {
 public:
  virtual ~HttpUpload() = default;
  // An answer ends the request: the rest is not wanted.
  virtual std::optional<HttpAnswer> Take(std::string_view piece) = 0;
  virtual HttpAnswer Finish() = 0;
};

// Handlers run on worker threads, several at a time.
using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;
// Decides by the head of a request, without its body.
using HttpUploadHandler =
    std::function<std::variant<HttpAnswer, std::unique_ptr<HttpUpload>>(const HttpRequest&)>;

struct HttpRoute {
  std::string method;  // "GET" answers HEAD, too
  // "/api/v1/runs/{id}": a part in braces stands for any one part that is not empty; as the last,
  // "{name...}" for one or more.
  std::string path;
  HttpHandler answer = {};
  HttpUploadHandler upload = {};      // instead of `answer`
  std::optional<uint64_t> most = {};  // bytes of the body; nothing: as the server's limits say
  // It may take seconds: it and others like it have threads of their own, so that the rest does not
  // wait. So does the end of every upload.
  bool is_slow = false;
};

class HttpRoutes {
 public:
  void Add(HttpRoute route) { routes_.push_back(std::move(route)); }
  void Add(std::string method, std::string path, HttpHandler handler);
  // What a path that is not there, or has other methods, is answered with: an answer that has its
  // status, and for 405 the field "allow". May make it an answer in another form.
  void OnRefusal(std::function<HttpAnswer(const HttpRequest&, HttpAnswer)> refuse) {
    refuse_ = std::move(refuse);
  }
  // Applies the form of OnRefusal.
  HttpAnswer Refuse(const HttpRequest& request, HttpAnswer answer) const;

  // The route, with the parts of the path filled in; or the answer 404 or 405.
  std::variant<const HttpRoute*, HttpAnswer> Find(HttpRequest& request) const;
  const std::vector<HttpRoute>& routes() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;
  std::function<HttpAnswer(const HttpRequest&, HttpAnswer)> refuse_;
};

// The answer of a route that takes its body at once. What it throws becomes 500.
HttpAnswer AnswerOf(const HttpRoute& route, const HttpRequest& request);

}  // namespace beryl::server
