#include "base/http_client.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "base/tls_stream.h"

namespace beryl {
namespace {

constexpr int kMostToConnectMs = 20'000;
constexpr int kMostWithoutProgressMs = 60'000;
// What a server reads of an upload before it answers may be large.
constexpr int kMostForAnswerMs = 30 * 60'000;
constexpr size_t kMostOfHead = size_t{64} << 10;
constexpr size_t kMostKept = size_t{1} << 20;
constexpr size_t kPiece = size_t{128} << 10;

// A connection: a socket that does not block, perhaps with TLS. Errors are words, without the
// server's name.
class Wire {
 public:
  static Result<std::unique_ptr<Wire>> Open(const HttpPlace& place) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int failed = ::getaddrinfo(place.host.c_str(), place.port.c_str(), &wanted, &found);
    if (failed != 0) return IoError(::gai_strerror(failed));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    std::string why = "it has no address";
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
      auto wire = std::unique_ptr<Wire>(
          new Wire(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
      why = wire->Connect(*address);
      if (!why.empty()) continue;
      if (place.is_secure) TRY(wire->Secure(place.host));
      return wire;
    }
    return IoError(why);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { ::close(fd_); }

  // Sends everything, unless the server speaks first: then it returns false.
  Result<bool> Send(std::string_view bytes) {
    while (!bytes.empty()) {
      size_t sent = 0;
      short wanted = 0;
      if (TRY(TryToWrite(bytes, sent, wanted))) {
        bytes.remove_prefix(sent);
        if (!TRY(Waits(0))) continue;
      } else if (!TRY(Wait(static_cast<short>(wanted | POLLIN), kMostWithoutProgressMs))) {
        continue;
      }
      if (TRY(SpeaksAlready())) return false;
    }
    return true;
  }

  // At least a byte; nothing at the end.
  Result<std::string_view> Receive(int patience_ms) {
    if (!early_.empty()) {
      buffer_ = std::exchange(early_, {});
      return std::string_view(buffer_);
    }
    buffer_.resize(kPiece);
    for (;;) {
      size_t got = 0;
      short wanted = POLLIN;
      if (TRY(TryToRead(got, wanted))) return std::string_view(buffer_).substr(0, got);
      TRY(Wait(wanted, patience_ms));
    }
  }

 private:
  explicit Wire(int fd) : fd_(fd) {}

  // Why it cannot; empty if it could.
  std::string Connect(const addrinfo& address) {
    if (fd_ < 0) return std::strerror(errno);
    if (::connect(fd_, address.ai_addr, address.ai_addrlen) == 0) return "";
    if (errno != EINPROGRESS) return std::strerror(errno);
    if (const auto ready = Wait(POLLOUT, kMostToConnectMs); !ready) return ready.error().message;
    int problem = 0;
    socklen_t size = sizeof(problem);
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &problem, &size);
    return problem == 0 ? "" : std::strerror(problem);
  }

  Status Secure(const std::string& host) {
    tls_ = std::make_unique<TlsStream>(TRY(TlsStream::Over(fd_, host)));
    for (;;) {
      const auto outcome = tls_->Greet();
      if (outcome == TlsStream::Outcome::kDone) return {};
      const bool reads = outcome == TlsStream::Outcome::kRead;
      if (!reads && outcome != TlsStream::Outcome::kWrite) return IoError(tls_->problem());
      TRY(Wait(reads ? POLLIN : POLLOUT, kMostToConnectMs));
    }
  }

  // Whether there is something to read or to write; false: only the latter.
  Result<bool> Wait(short wanted, int patience_ms) {
    pollfd look{fd_, wanted, 0};
    int ready = 0;
    do {
      ready = ::poll(&look, 1, patience_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready < 0) return IoError(std::strerror(errno));
    if (ready == 0 && patience_ms > 0) {
      return IoError(fmt::format("nothing came for {} s", patience_ms / 1000));
    }
    return (look.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
  }
  Result<bool> Waits(int patience_ms) { return Wait(POLLIN, patience_ms); }

  // An answer may come before the request is sent; a ticket of TLS is none.
  Result<bool> SpeaksAlready() {
    buffer_.resize(kPiece);
    size_t got = 0;
    short wanted = 0;
    if (!TRY(TryToRead(got, wanted))) return false;
    early_ = buffer_.substr(0, got);
    if (got == 0) return IoError("it ended the connection before it had the whole request");
    return true;
  }

  // Whether something, or the end, was read; otherwise `wanted` says what to wait for.
  Result<bool> TryToRead(size_t& got, short& wanted) {
    if (tls_) return AfterTls(tls_->Read(buffer_.data(), buffer_.size(), got), got, wanted);
    wanted = POLLIN;
    const ssize_t read = ::recv(fd_, buffer_.data(), buffer_.size(), 0);
    got = read > 0 ? static_cast<size_t>(read) : 0;
    return AfterSystem(read);
  }
  Result<bool> TryToWrite(std::string_view bytes, size_t& sent, short& wanted) {
    if (tls_) return AfterTls(tls_->Write(bytes.data(), bytes.size(), sent), sent, wanted);
    wanted = POLLOUT;
    const ssize_t written = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    sent = written > 0 ? static_cast<size_t>(written) : 0;
    // What the server said before it closed is still to be read.
    if (written < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      wanted = POLLIN;
      return false;
    }
    return AfterSystem(written);
  }
  static Result<bool> AfterSystem(ssize_t done) {
    if (done >= 0) return true;
    if (errno == EAGAIN || errno == EINTR) return false;
    return IoError(std::strerror(errno));
  }
  Result<bool> AfterTls(TlsStream::Outcome outcome, size_t& moved, short& wanted) const {
    if (outcome == TlsStream::Outcome::kDone) return true;
    moved = 0;
    if (outcome == TlsStream::Outcome::kEnd) return true;
    if (outcome == TlsStream::Outcome::kFailed) return IoError(tls_->problem());
    wanted = outcome == TlsStream::Outcome::kRead ? POLLIN : POLLOUT;
    return false;
  }

  int fd_;
  std::unique_ptr<TlsStream> tls_;
  std::string buffer_;
  std::string early_;
};

Error NoHttp() { return IoError("what answers there is no HTTP server"); }

// Reads an answer from a wire.
class ReplyReader {
 public:
  ReplyReader(Wire& wire, const std::function<Status(std::string_view)>& take)
      : wire_(wire), take_(take) {}

  Result<HttpReply> Read() {
    do {
      TRY(ReadHead());
    } while (reply_.status >= 100 && reply_.status < 200);
    TRY(ReadBody());
    return std::move(reply_);
  }

 private:
  // More bytes in `waiting_`; false: there are no more.
  Result<bool> Fill(int patience_ms) {
    const std::string_view more = TRY(wire_.Receive(patience_ms));
    waiting_ += more;
    return !more.empty();
  }
  // A line without its end.
  Result<std::string> Line(int patience_ms) {
    for (;;) {
      const size_t end = waiting_.find('\n');
      if (end != std::string::npos) {
        std::string line = waiting_.substr(0, end);
        waiting_.erase(0, end + 1);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return line;
      }
      if (waiting_.size() > kMostOfHead) return NoHttp();
      if (!TRY(Fill(patience_ms))) return IoError("it ended the connection without an answer");
    }
  }

  Status ReadHead() {
    reply_ = {};
    const std::string first = TRY(Line(kMostForAnswerMs));
    const auto words = Split(first, ' ');
    if (!first.starts_with("HTTP/1.") || words.size() < 2) return NoHttp();
    const auto [end, failed] =
        std::from_chars(words[1].data(), words[1].data() + words[1].size(), reply_.status);
    if (failed != std::errc() || words[1].size() != 3) return NoHttp();
    reply_.reason = words.size() > 2 ? first.substr(words[0].size() + words[1].size() + 2) : "";
    size_t bytes = 0;
    for (;;) {
      const std::string line = TRY(Line(kMostWithoutProgressMs));
      if (line.empty()) return {};
      bytes += line.size();
      const size_t colon = line.find(':');
      if (colon == std::string::npos || bytes > kMostOfHead) return NoHttp();
      reply_.fields.emplace_back(LowerCase(Trim(line.substr(0, colon))),
                                 std::string(Trim(std::string_view(line).substr(colon + 1))));
    }
  }

  Status ReadBody() {
    if (reply_.status == 204 || reply_.status == 304) return {};
    if (LowerCase(reply_.Field("transfer-encoding")) == "chunked") return ReadChunks();
    const std::string_view length = reply_.Field("content-length");
    if (length.empty()) {
      for (;;) {
        TRY(Give(waiting_));
        waiting_.clear();
        if (!TRY(Fill(kMostWithoutProgressMs))) return {};
      }
    }
    const auto bytes = Number(length, 10);
    return bytes ? ReadBytes(*bytes) : Status(NoHttp());
  }

  Status ReadChunks() {
    for (;;) {
      const std::string head = TRY(Line(kMostWithoutProgressMs));
      const auto bytes = Number(Trim(std::string_view(head).substr(0, head.find(';'))), 16);
      if (!bytes) return NoHttp();
      if (*bytes == 0) break;
      TRY(ReadBytes(*bytes));
      if (!TRY(Line(kMostWithoutProgressMs)).empty()) return NoHttp();
    }
    while (!TRY(Line(kMostWithoutProgressMs)).empty()) {
    }
    return {};
  }

  Status ReadBytes(uint64_t bytes) {
    for (uint64_t left = bytes; left > 0;) {
      if (waiting_.empty() && !TRY(Fill(kMostWithoutProgressMs))) {
        return IoError(fmt::format("it ended the connection after {} of {}",
                                   FormatBytes(bytes - left), FormatBytes(bytes)));
      }
      const size_t some = static_cast<size_t>(std::min<uint64_t>(left, waiting_.size()));
      TRY(Give(std::string_view(waiting_).substr(0, some)));
      waiting_.erase(0, some);
      left -= some;
    }
    return {};
  }

  Status Give(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (take_ && reply_.status == 200) return take_(bytes);
    if (reply_.body.size() + bytes.size() > kMostKept) return IoError("its answer is too long");
    reply_.body += bytes;
    return {};
  }

  static std::optional<uint64_t> Number(std::string_view text, int base) {
    uint64_t number = 0;
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), number, base);
    const bool whole = failed == std::errc() && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(number) : std::nullopt;
  }

  Wire& wire_;
  const std::function<Status(std::string_view)>& take_;
  HttpReply reply_;
  std::string waiting_;
};

std::string HostOf(const HttpPlace& place) {
  const bool is_ipv6 = place.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + place.host + "]" : place.host;
  const bool usual = place.port == (place.is_secure ? "443" : "80");
  return usual ? host : host + ":" + place.port;
}

std::string HeadOf(const HttpPlace& place, const HttpCall& call) {
  std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
                                 call.method, place.path, call.target, HostOf(place));
  if (call.body_bytes) head += fmt::format("Content-Length: {}\r\n", *call.body_bytes);
  for (const auto& [name, value] : call.fields) head += fmt::format("{}: {}\r\n", name, value);
  return head + "\r\n";
}

// What was sent has the size that was said.
Status SendBody(Wire& wire, const HttpCall& call) {
  for (uint64_t left = call.body_bytes.value_or(0); left > 0;) {
    const std::string_view piece = TRY(call.next_piece());
    if (piece.empty() || piece.size() > left) {
      return InvalidError("what is sent became another size while it was sent");
    }
    left -= piece.size();
    if (!TRY(wire.Send(piece))) return {};
  }
  return {};
}

}  // namespace

std::string HttpPlace::url() const {
  return (is_secure ? "https://" : "http://") + HostOf(*this) + path;
}

Result<HttpPlace> ParseHttpPlace(std::string_view url) {
  const auto bad = [&](std::string_view why) {
    return MisuseError(
        fmt::format("'{}': {}; expected http://HOST:PORT or https://HOST", Printable(url), why));
  };
  HttpPlace place;
  place.is_secure = url.starts_with("https://");
  if (!place.is_secure && !url.starts_with("http://")) return bad("this is no address of a server");
  std::string_view rest = url.substr(place.is_secure ? 8 : 7);
  if (std::any_of(rest.begin(), rest.end(), [](char c) { return c <= ' ' || c == 0x7f; })) {
    return bad("it has characters that an address cannot have");
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos) place.path = rest.substr(slash);
  while (place.path.ends_with('/')) place.path.pop_back();
  rest = rest.substr(0, slash);
  if (rest.find('@') != std::string_view::npos) return bad("a password does not belong here");
  size_t colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad("a ']' is missing");
    place.host = rest.substr(1, close - 1);
    colon = close + 1 < rest.size() ? close + 1 : std::string_view::npos;
    if (colon != std::string_view::npos && rest[colon] != ':') return bad("a ':' is missing");
  } else {
    place.host = rest.substr(0, colon);
  }
  place.port = colon != std::string_view::npos ? std::string(rest.substr(colon + 1))
               : place.is_secure               ? "443"
                                               : "80";
  uint16_t port = 0;
  const char* const last = place.port.data() + place.port.size();
  const auto [end, failed] = std::from_chars(place.port.data(), last, port);
  if (failed != std::errc() || end != last || port == 0) return bad("the port is not a number");
  if (place.host.empty()) return bad("the host is missing");
  return place;
}

std::string EscapeForQuery(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || std::strchr("-._~", c) != nullptr;
    if (is_plain && c != '\0') {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

std::string_view HttpReply::Field(std::string_view name) const {
  for (const auto& [known, value] : fields) {
    if (known == name) return value;
  }
  return {};
}

Result<HttpReply> CallHttp(const HttpPlace& place, const HttpCall& call,
                           const std::function<Status(std::string_view)>& take) {
  // What the caller's own functions refuse is no matter of the server.
  std::optional<Error> own;
  HttpCall watched = call;
  watched.next_piece = [&]() -> Result<std::string_view> {
    auto piece = call.next_piece();
    if (!piece) own = piece.error();
    return piece;
  };
  std::function<Status(std::string_view)> taking;
  if (take) {
    taking = [&](std::string_view bytes) {
      const auto taken = take(bytes);
      if (!taken) own = taken.error();
      return taken;
    };
  }
  const auto exchange = [&]() -> Result<HttpReply> {
    const auto wire = TRY(Wire::Open(place));
    if (TRY(wire->Send(HeadOf(place, call)))) TRY(SendBody(*wire, watched));
    return ReplyReader(*wire, taking).Read();
  };
  auto reply = exchange();
  if (own) return *std::move(own);
  if (!reply) return ErrorOf(place.url(), std::move(reply).error());
  return reply;
}

}  // namespace beryl
