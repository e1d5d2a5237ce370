#include "server/http.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/otlp_push.h"
#include "server/socket.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;

HttpAnswer Page() { return {200, "text/plain", "hello\n"}; }

TEST(Http, AnswersGetOfItsOnePage) {
  EXPECT_EQ(AnswerTo("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "/metrics", Page).status, 200);
  EXPECT_EQ(AnswerTo("GET /metrics?a=b HTTP/1.0\r\n\r\n", "/metrics", Page).body, "hello\n");
  EXPECT_EQ(AnswerTo("GET / HTTP/1.1\r\n\r\n", "/metrics", Page).status, 404);
  EXPECT_EQ(AnswerTo("POST /metrics HTTP/1.1\r\n\r\n", "/metrics", Page).status, 405);
  for (const char* bad : {"", "\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/1.1\r\n",
                          "GET  /metrics HTTP/1.1\r\n\r\n", "GET /metrics HTTP/2\r\n\r\n"}) {
    EXPECT_EQ(AnswerTo(bad, "/metrics", Page).status, 400) << bad;
  }
}

TEST(Http, KnowsTheStatusOfAnAnswer) {
  EXPECT_EQ(StatusOfAnswer("HTTP/1.1 200 OK\r\n"), 200);
  EXPECT_EQ(StatusOfAnswer("HTTP/1.0 503"), 503);
  for (const char* bad : {"", "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 xyz", "SSH-2.0-x  200 OK"}) {
    EXPECT_EQ(StatusOfAnswer(bad), std::nullopt) << bad;
  }
}

TEST(Http, TargetsAreHttp) {
  const auto target = ParseTarget("http://localhost:4318");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->host, "localhost");
  EXPECT_EQ(target->port, "4318");
  EXPECT_EQ(ParseTarget("http://[::1]:99/v1/x")->host, "::1");
  EXPECT_EQ(ParseTarget("http://[::1]:99/v1/x")->path, "/v1/x");
  EXPECT_EQ(ParseTarget("http://collector")->port, "4318");
  for (const char* bad : {"", "localhost:4318", "https://x:1", "http://", "http://x:0",
                          "http://x:y", "http://[::1", "http://a b:1", "http://x:1/a\r\nb"}) {
    EXPECT_FALSE(ParseTarget(bad)) << bad;
  }
}

std::unique_ptr<HttpPage> Serve(std::function<HttpAnswer()> page) {
  auto served = HttpPage::Listen(*ParseAddress("127.0.0.1:0"), "/metrics", std::move(page));
  EXPECT_TRUE(served);
  return std::move(*served);
}

TEST(Http, AThreadServesAndEnds) {
  const auto page = Serve(Page);
  EXPECT_GT(page->address().port, 0);
  const HttpTarget target{"127.0.0.1", std::to_string(page->address().port), "/metrics"};
  // It takes GET only: what comes back is a status all the same.
  const auto status = Post(target, "text/plain", "x", Nanos{3'000'000'000});
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 405);
}

OwnedFd ConnectTo(const HttpPage& page) {
  OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(page.address().port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

TEST(Http, AThreadLeavesAClientThatComesToNoEnd) {
  const auto page = Serve(Page);
  const OwnedFd slow = ConnectTo(*page);
  std::atomic<bool> over = false;
  std::thread dripping([&] {
    while (!over) {
      (void)::send(slow.get(), "x", 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  const HttpTarget target{"127.0.0.1", std::to_string(page->address().port), "/metrics"};
  EXPECT_TRUE(Post(target, "text/plain", "x", Nanos{10'000'000'000}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
  over = true;
  dripping.join();
}

TEST(Http, AThreadEndsThoughAClientSaysNothing) {
  auto page = Serve(Page);
  const OwnedFd silent = ConnectTo(*page);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begin = std::chrono::steady_clock::now();
  page.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST(Http, ATakenPortIsSaid) {
  const auto page = Serve(Page);
  const auto again = HttpPage::Listen(page->address(), "/metrics", Page);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST(Otlp, AThreadGoesOnWhileTheCollectorIsGoneAndSaysItOnce) {
  std::string port;
  {
    const auto page = Serve(Page);
    port = std::to_string(page->address().port);
  }
  std::atomic<int> said = 0;
  const OtlpPush push(
      {{"127.0.0.1", port, ""}, Nanos{1'000'000}}, [] { return "{}"; },
      [&](const std::string&) { ++said; });
  for (int i = 0; i < 2000 && push.failed() < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(push.failed(), 3u);
  EXPECT_EQ(push.sent(), 0u);
  EXPECT_EQ(said, 1);
}

}  // namespace
}  // namespace beryl::server
