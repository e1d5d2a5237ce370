// As much of HTTP/1.1 as it takes to be asked for metrics and to send some. The library that
// Debian has brings a second copy of OpenSSL with it, and 5 MB of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/units.h"
#include "server/address.h"

namespace beryl::server {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

// What is answered to the head of a request; `page` makes what is at `path`.
HttpAnswer AnswerTo(std::string_view head, std::string_view path,
                    const std::function<HttpAnswer()>& page);

// Answers GET requests for one page, one connection after the other, on a thread of its own. A
// client that does not come to an end in three seconds, all in all, is left.
class HttpPage {
 public:
  static Result<std::unique_ptr<HttpPage>> Listen(const Address& address, std::string path,
                                                  std::function<HttpAnswer()> page);
  ~HttpPage();
  const Address& address() const { return address_; }

 private:
  HttpPage(int listener, Address address, std::string path, std::function<HttpAnswer()> page);
  void Run();
  void Serve(int connection);

  int listener_;
  int stop_;  // an eventfd
  Address address_;
  std::string path_;
  std::function<HttpAnswer()> page_;
  std::thread thread_;
};

// "http://HOST:PORT[/PATH]".
struct HttpTarget {
  std::string host;
  std::string port;
  std::string path;
};
Result<HttpTarget> ParseTarget(std::string_view url);

// Sends and returns the status; takes at most `patience`, but for looking up the host. `stop`: an
// eventfd that ends it at once; -1: none.
Result<int> Post(const HttpTarget& target, std::string_view type, std::string_view body,
                 Nanos patience, int stop = -1);

// The status in the first line of an answer; nothing: that is no HTTP.
std::optional<int> StatusOfAnswer(std::string_view answer);

}  // namespace beryl::server
