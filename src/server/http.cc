#include "server/http.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "server/socket.h"

namespace beryl::server {
namespace {

constexpr size_t kMostOfHead = 8192;
constexpr Nanos kPatience{3'000'000'000};

std::string_view PhraseOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Error";
  }
}

bool SendAll(int fd, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (!deadline.WaitFor(fd, POLLOUT)) return false;
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Up to the empty line that ends a head, or the limit, or the deadline.
std::string ReceiveHead(int fd, const Deadline& deadline) {
  std::string head;
  std::array<char, 2048> buffer;
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < kMostOfHead) {
    if (!deadline.WaitFor(fd, POLLIN)) break;
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    head.append(buffer.data(), static_cast<size_t>(got));
  }
  return head;
}

Result<OwnedFd> Connect(const HttpTarget& target, const Deadline& deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int bad = ::getaddrinfo(target.host.c_str(), target.port.c_str(), &hints, &list)) {
    return IoError(fmt::format("{}: {}", target.host, ::gai_strerror(bad)));
  }
  std::string why = "no address";
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    OwnedFd fd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(fd.get(), one->ai_addr, one->ai_addrlen) != 0 && errno != EINPROGRESS) {
      why = std::strerror(errno);
      continue;
    }
    int error = ETIMEDOUT;
    socklen_t size = sizeof(error);
    if (deadline.WaitFor(fd.get(), POLLOUT)) {
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) {
      ::freeaddrinfo(list);
      return fd;
    }
    why = std::strerror(error);
  }
  ::freeaddrinfo(list);
  return IoError(fmt::format("{}:{}: {}", target.host, target.port, why));
}

}  // namespace

HttpAnswer AnswerTo(std::string_view head, std::string_view path,
                    const std::function<HttpAnswer()>& page) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::vector<std::string_view> words = Split(line, ' ');
  if (head.find("\r\n\r\n") == std::string_view::npos || words.size() != 3 ||
      !words[2].starts_with("HTTP/1.")) {
    return {400, "text/plain; charset=utf-8", "this is no HTTP/1.1 request\n"};
  }
  if (words[0] != "GET") return {405, "text/plain; charset=utf-8", "only GET\n"};
  if (words[1].substr(0, words[1].find('?')) != path) {
    return {404, "text/plain; charset=utf-8", fmt::format("there is only {}\n", path)};
  }
  return page();
}

Result<std::unique_ptr<HttpPage>> HttpPage::Listen(const Address& address, std::string path,
                                                   std::function<HttpAnswer()> page) {
  Address bound = address;
  const auto listener = server::Listen(bound);
  if (!listener) return listener.error();
  return std::unique_ptr<HttpPage>(
      new HttpPage(*listener, bound, std::move(path), std::move(page)));
}

HttpPage::HttpPage(int listener, Address address, std::string path,
                   std::function<HttpAnswer()> page)
    : listener_(listener),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      address_(std::move(address)),
      path_(std::move(path)),
      page_(std::move(page)),
      thread_([this] { Run(); }) {}

HttpPage::~HttpPage() {
  const uint64_t one = 1;
  while (::write(stop_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::close(listener_);
  ::close(stop_);
}

void HttpPage::Run() {
  for (;;) {
    std::array<pollfd, 2> wanted = {pollfd{listener_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    if (wanted[1].revents != 0) return;
    if (wanted[0].revents == 0) continue;
    const OwnedFd connection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() >= 0) Serve(connection.get());
  }
}

void HttpPage::Serve(int connection) {
  const Deadline deadline(kPatience, stop_);
  const HttpAnswer answer = AnswerTo(ReceiveHead(connection, deadline), path_, page_);
  const std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
      answer.status, PhraseOf(answer.status), answer.type, answer.body.size());
  if (SendAll(connection, head, deadline)) SendAll(connection, answer.body, deadline);
}

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
  if (!url.starts_with(kScheme)) return bad("this is no address to send metrics to");
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
    return bad("the port is no number");
  }
  const auto is_odd = [](char letter) { return letter <= ' ' || letter == 0x7f; };
  for (const std::string& part : {target.host, target.path}) {
    for (const char letter : part) {
      if (is_odd(letter)) return bad("it has letters that no address has");
    }
  }
  if (target.host.empty()) return bad("the host is missing");
  return target;
}

Result<int> Post(const HttpTarget& target, std::string_view type, std::string_view body,
                 Nanos patience, int stop) {
  const Deadline deadline(patience, stop);
  auto fd = Connect(target, deadline);
  if (!fd) return fd.error();
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n",
      target.path, target.host, target.port, type, body.size());
  if (!SendAll(fd->get(), head, deadline) || !SendAll(fd->get(), body, deadline)) {
    return IoError(fmt::format("{}:{}: the connection broke", target.host, target.port));
  }
  const auto status = StatusOfAnswer(ReceiveHead(fd->get(), deadline));
  if (!status) {
    return IoError(fmt::format("{}:{}: no HTTP answer came", target.host, target.port));
  }
  return *status;
}

std::optional<int> StatusOfAnswer(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.") || answer.size() < 12 || answer[8] != ' ') return std::nullopt;
  int status = 0;
  const auto [end, error] = std::from_chars(answer.data() + 9, answer.data() + 12, status);
  if (error != std::errc() || end != answer.data() + 12 || status < 100) return std::nullopt;
  return status;
}

}  // namespace beryl::server
