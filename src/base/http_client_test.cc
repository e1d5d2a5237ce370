#include "base/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include <fmt/format.h>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

// Takes one connection, reads `wants` bytes of the request at least, says `answer` and closes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer, size_t wants = 1)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    place_ = *ParseHttpPlace(fmt::format("http://127.0.0.1:{}/below", ::ntohs(address.sin_port)));
    thread_ = std::thread([this, answer = std::move(answer), wants] {
      const int peer = ::accept(socket_, nullptr, nullptr);
      char buffer[4096];
      while (said_.size() < wants || said_.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(peer, buffer, sizeof(buffer), 0);
        if (got <= 0) break;
        said_.append(buffer, static_cast<size_t>(got));
      }
      for (size_t at = 0; at < answer.size(); at += 7) {  // in pieces, as networks do
        const std::string piece = answer.substr(at, 7);
        if (::send(peer, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
      }
      ::shutdown(peer, SHUT_WR);
      while (::recv(peer, buffer, sizeof(buffer), 0) > 0) {
      }
      ::close(peer);
    });
  }
  ~OneAnswer() {
    thread_.join();
    ::close(socket_);
  }

  const HttpPlace& place() const { return place_; }
  // After the call.
  const std::string& said() const { return said_; }

 private:
  int socket_;
  HttpPlace place_;
  std::string said_;
  std::thread thread_;
};

std::string Problem(const std::string& url) {
  const auto place = ParseHttpPlace(url);
  return place ? "" : place.error().message;
}

TEST(HttpPlaceTest, HasHostPortAndPath) {
  const auto plain = ParseHttpPlace("http://127.0.0.1:8420/");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->url(), "http://127.0.0.1:8420");
  const auto secure = ParseHttpPlace("https://box.example.org/beryl/?x#y");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->is_secure);
  EXPECT_EQ(secure->port, "443");
  EXPECT_EQ(secure->url(), "https://box.example.org/beryl");
  const auto six = ParseHttpPlace("http://[::1]:80");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->url(), "http://[::1]");
  EXPECT_THAT(Problem("box:8420"), HasSubstr("no address of a server; expected http://HOST:PORT"));
  EXPECT_THAT(Problem("http://:1"), HasSubstr("the host is missing"));
  EXPECT_THAT(Problem("http://box:0"), HasSubstr("the port is not a number"));
  EXPECT_THAT(Problem("http://box:1x"), HasSubstr("the port is not a number"));
  EXPECT_THAT(Problem("http://me:secret@box"), HasSubstr("a password does not belong here"));
  EXPECT_THAT(Problem("http://a b"), HasSubstr("characters"));
  EXPECT_EQ(EscapeForQuery("a b/ü-._~"), "a%20b%2F%C3%BC-._~");
}

TEST(HttpClientTest, SendsABodyInPiecesAndKeepsTheAnswer) {
  OneAnswer server(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nLocation:  /x \r\nContent-Length: "
      "3\r\n\r\nyes",
      180);
  int pieces = 0;
  HttpCall call = {"POST", "/api", {{"X-A", "b"}}, 100, [&]() -> Result<std::string_view> {
                     ++pieces;
                     return std::string_view("0123456789");
                   }};
  const auto reply = CallHttp(server.place(), call);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->reason, "Created");
  EXPECT_EQ(reply->Field("location"), "/x");
  EXPECT_EQ(reply->body, "yes");
  EXPECT_EQ(pieces, 10);
  EXPECT_THAT(server.said(), AllOf(StartsWith("POST /below/api HTTP/1.1\r\nHost: 127.0.0.1:"),
                                   HasSubstr("\r\nContent-Length: 100\r\nX-A: b\r\n\r\n0123")));
}

TEST(HttpClientTest, ReadsAnswersOfAnyForm) {
  const std::pair<const char*, const char*> kAnswers[] = {
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: "
       "v\r\n\r\n",
       "abcde"},
      {"HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"},
      {"HTTP/1.1 204 No Content\r\n\r\n", ""}};
  for (const auto& [answer, body] : kAnswers) {
    OneAnswer server(answer);
    std::string taken;
    const auto reply = CallHttp(server.place(), {}, [&](std::string_view bytes) -> Status {
      taken += bytes;
      return {};
    });
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(taken, body);
  }
}

TEST(HttpClientTest, OnlyABodyOfSuccessIsTaken) {
  OneAnswer server("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
  const auto reply =
      CallHttp(server.place(), {}, [](std::string_view) -> Status { return IoError("taken"); });
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "no");
}

// A server that refuses an upload need not read it.
TEST(HttpClientTest, AnAnswerEndsTheSending) {
  OneAnswer server("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  const std::string piece(size_t{1} << 20, 'x');
  uint64_t sent = 0;
  HttpCall call = {"POST", "/", {}, uint64_t{1} << 40, [&]() -> Result<std::string_view> {
                     sent += piece.size();
                     return std::string_view(piece);
                   }};
  const auto reply = CallHttp(server.place(), call);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 413);
  EXPECT_LT(sent, uint64_t{1} << 36);
}

std::string ErrorOfAnswer(const char* answer) {
  OneAnswer server(answer);
  const auto reply = CallHttp(server.place(), {});
  EXPECT_TRUE(reply || reply.error().message.starts_with(server.place().url()));
  return reply ? "" : reply.error().message;
}

TEST(HttpClientTest, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_THAT(ErrorOfAnswer(""), HasSubstr("it ended the connection without an answer"));
  EXPECT_THAT(ErrorOfAnswer("SSH-2.0-x\r\n"), HasSubstr("no HTTP server"));
  EXPECT_THAT(ErrorOfAnswer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
              HasSubstr("ended the connection after 3.00 B of 9.00 B"));
  EXPECT_THAT(ErrorOfAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"),
              HasSubstr("no HTTP server"));
}

TEST(HttpClientTest, ErrorsOfTheCallerStayAsTheyAre) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  const auto reply = CallHttp(
      server.place(), {}, [](std::string_view) -> Status { return IoError("the disk is full"); });
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "the disk is full");
}

TEST(HttpClientTest, NobodyThereIsSaidWithTheAddress) {
  HttpPlace nobody;
  {
    OneAnswer server("x");
    nobody = server.place();
    (void)CallHttp(nobody, {});
  }
  const auto reply = CallHttp(nobody, {});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr(nobody.url() + ": Connection refused"));
}

}  // namespace
}  // namespace beryl
