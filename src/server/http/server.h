// HTTP/1.1 on sockets: connections with limits and deadlines, requests answered by routes.
//
// One thread serves all connections, as coroutines; handlers, uploads and streams run on worker
// threads, so that no connection waits for another's work. What can be answered from memory does
// not leave the first thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "server/address.h"
#include "server/http/limits.h"
#include "server/http/message.h"
#include "server/http/routes.h"

namespace beryl::server {

// Who is at the other end of a connection.
struct HttpPeer {
  std::string name;        // those of equal name share what a peer may have
  size_t connections = 0;  // that it may have
  bool is_root = false;    // never refused
};

// What is known of a request once it is answered.
struct HttpExchange {
  const HttpRequest* request;
  std::string_view peer;   // who sent it
  std::string_view route;  // its path; empty: none
  int status = 0;
  uint64_t bytes = 0;  // of the answer's body
  Seconds time;        // from the end of its head to the end of the answer
  bool from_memory = false;
};

// What was served so far.
struct HttpFigures {
  // Upper ends of the classes of times, in seconds; the last class has no end.
  static constexpr double kClasses[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                        0.1,    0.25,  0.5,    1,     2.5,  5,     10};
  struct Times {
    std::vector<uint64_t> in_class = std::vector<uint64_t>(std::size(kClasses) + 1);
    double sum_s = 0;
    uint64_t count = 0;
  };
  struct OfRoute {
    std::map<int, uint64_t> requests;  // by status
    Times times;
  };
  std::map<std::string, OfRoute, std::less<>> routes;
  size_t connections = 0;
  size_t streams = 0;
  uint64_t connections_refused = 0;
  uint64_t kept_answers = 0;
  uint64_t kept_bytes = 0;
  uint64_t answered_from_memory = 0;

  // With those of another server, which has other connections.
  void Add(const HttpFigures& other);
};

// What is decided of a request by its head, before its route is looked for.
struct HttpVerdict {
  std::optional<HttpAnswer> refusal = {};
  std::vector<HttpField> fields = {};  // that its answer has, whatever that is
};

struct HttpOptions {
  HttpRoutes routes = {};
  HttpLimits limits = {};
  // On the thread of all connections: must not wait. Must not be null where strangers connect. Says
  // the same of the same request until HttpServer::Reconsider is called.
  std::function<HttpVerdict(const HttpRequest&)> judge = {};
  // Who a connection is from; null: local users, by the kernel's word.
  std::function<HttpPeer(int fd)> peer_of = {};
  // After each answer, on the thread of all connections: must not wait.
  std::function<void(const HttpExchange&)> log = {};
  // PEM, for HTTPS; empty: plain HTTP.
  std::string certificate = {};
  std::string key = {};
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Open(const Address& address, HttpOptions options);
  // `listener`: a socket that listens already, and is now owned.
  static Result<std::unique_ptr<HttpServer>> On(int listener, const Address& address,
                                                HttpOptions options);
  // Closes all connections. Waits only for handlers that are running.
  ~HttpServer();

  const Address& address() const;
  HttpFigures figures() const;
  size_t connections() const { return figures().connections; }

  // Takes no new connections and requests, and waits until the running ones are answered, at most
  // for `patience`.
  void Drain(Nanos patience);
  // From its return on, `judge` is asked of every request, also of those it was asked of before.
  void Reconsider();
  // For connections from now on. If it fails, the old one stays.
  Status UseCertificate(const std::string& certificate, const std::string& key);

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The answer to a client that sends these bytes and no more. Uploads are taken, streams are not
// read.
HttpAnswer AnswerTo(std::string_view bytes, const HttpOptions& options);

}  // namespace beryl::server
