#include "server/http/server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/client.h"
#include "server/socket.h"

namespace beryl::server {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

// Longer than any test takes: what waits for it never ends, and a machine that stands still for a
// while fails no test.
constexpr Nanos kNever{3'600'000'000'000};

HttpLimits Patient() {
  HttpLimits limits;
  limits.head_patience = limits.body_patience = limits.idle_patience = kNever;
  return limits;
}

HttpRoutes Routes() {
  HttpRoutes routes;
  routes.Add("GET", "/metrics", [](const HttpRequest&) {
    return HttpAnswer{200, "text/plain", "hello\n"};
  });
  routes.Add("POST", "/echo", [](const HttpRequest& request) {
    return HttpAnswer{200, "text/plain", request.query + "|" + request.body};
  });
  return routes;
}

HttpOptions OptionsWith(const HttpLimits& limits = Patient()) {
  HttpOptions options;
  options.routes = Routes();
  options.limits = limits;
  return options;
}

HttpAnswer AnswerOf(std::string_view bytes, const HttpLimits& limits = {}) {
  return AnswerTo(bytes, OptionsWith(limits));
}

int StatusOf(std::string_view bytes, const HttpLimits& limits = {}) {
  return AnswerOf(bytes, limits).status;
}

TEST(Http, AnswersByItsRoutes) {
  EXPECT_EQ(StatusOf("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), 200);
  EXPECT_EQ(StatusOf("HEAD /metrics HTTP/1.1\r\n\r\n"), 200);
  EXPECT_EQ(AnswerOf("GET /metrics?a=b HTTP/1.0\r\n\r\n").body, "hello\n");
  EXPECT_EQ(AnswerOf("POST /echo?a=b HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz").body, "a=b|xyz");
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 404);
  const HttpAnswer other = AnswerOf("DELETE /metrics HTTP/1.1\r\n\r\n");
  EXPECT_EQ(other.status, 405);
  ASSERT_EQ(other.fields.size(), 1u);
  EXPECT_EQ(other.fields[0].value, "GET, HEAD");
}

TEST(Http, RefusesWhatIsNoRequestOrTooMuch) {
  for (const char* bad :
       {"", "\r\n\r\n", "GET /metrics\r\n\r\n", "GET /metrics HTTP/1.1\r\n",
        "GET  /metrics HTTP/1.1\r\n\r\n", "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nxy"}) {
    EXPECT_EQ(StatusOf(bad), 400) << bad;
  }
  HttpLimits limits;
  limits.head_bytes = 100;
  limits.body_bytes = 2;
  EXPECT_EQ(StatusOf("GET /" + std::string(200, 'x') + " HTTP/1.1\r\n\r\n", limits), 431);
  EXPECT_EQ(StatusOf("POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz", limits), 413);
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

std::unique_ptr<HttpServer> Serve(const HttpLimits& limits = Patient(), uint32_t user = 1000) {
  HttpOptions options = OptionsWith(limits);
  options.peer_of = [user, limits](int) {
    return HttpPeer{std::to_string(user), limits.connections_of_peer, user == 0};
  };
  auto served = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  EXPECT_TRUE(served);
  return std::move(*served);
}

OwnedFd ConnectTo(const HttpServer& server) {
  OwnedFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.address().port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

void Send(const OwnedFd& to, std::string_view text) {
  (void)::send(to.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// Up to `end`, or until the other side closes.
std::string Receive(const OwnedFd& from, std::string_view end) {
  std::string text;
  char letter = 0;
  while (!text.ends_with(end) && ::recv(from.get(), &letter, 1, 0) == 1) text += letter;
  return text;
}

bool Eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

HttpTarget TargetOf(const HttpServer& server, const char* path) {
  return {"127.0.0.1", std::to_string(server.address().port), path};
}

TEST(Http, AThreadServesAndEnds) {
  const auto server = Serve();
  EXPECT_GT(server->address().port, 0);
  const auto sent = Post(TargetOf(*server, "/echo"), "text/plain", "x", kNever);
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(*sent, 200);
  EXPECT_EQ(*Post(TargetOf(*server, "/metrics"), "text/plain", "x", kNever), 405);
}

TEST(Http, AConnectionMayAskAgain) {
  const auto server = Serve();
  const OwnedFd client = ConnectTo(*server);
  for (int i = 0; i < 3; ++i) {
    Send(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(Receive(client, "hello\n"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  Send(client, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(Receive(client, "\r\n\r\n"), HasSubstr("content-length: 6"));
  Send(client, "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(Receive(client, "never"), HasSubstr("hello\n"));
}

TEST(Http, ServesOnAUnixSocketAndLeavesNoFile) {
  std::string folder = (std::filesystem::temp_directory_path() / "beryl-http-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const Address address = *ParseAddress("unix:" + folder + "/s");
  auto server = HttpServer::Open(address, OptionsWith());
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_FALSE(HttpServer::Open(address, OptionsWith()));
  EXPECT_TRUE(std::filesystem::exists(folder + "/s"));
  server->reset();
  EXPECT_FALSE(std::filesystem::exists(folder + "/s"));
  std::filesystem::remove_all(folder);
}

TEST(Http, ClientsThatSayNothingDelayNobody) {
  const auto server = Serve();
  std::vector<OwnedFd> silent;
  for (int i = 0; i < 12; ++i) {
    silent.push_back(ConnectTo(*server));
    Send(silent.back(), "GET /metr");
  }
  const OwnedFd client = ConnectTo(*server);
  Send(client, "GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_THAT(Receive(client, "never"), HasSubstr("hello"));
}

TEST(Http, AThreadLeavesAClientThatComesToNoEnd) {
  HttpLimits limits;
  limits.head_patience = Nanos{300'000'000};
  const auto server = Serve(limits);
  const OwnedFd slow = ConnectTo(*server);
  ASSERT_TRUE(Eventually([&] { return server->connections() == 1; }));
  while (server->connections() > 0) {
    Send(slow, "x");
    std::this_thread::sleep_for(milliseconds(20));
  }
}

TEST(Http, OneUserDoesNotTakeAllConnections) {
  HttpLimits limits = Patient();
  limits.connections = 4;
  limits.connections_of_peer = 2;
  std::atomic<uint32_t> user = 1000;
  HttpOptions options = OptionsWith(limits);
  options.peer_of = [&](int) {
    return HttpPeer{std::to_string(user), limits.connections_of_peer, user == 0};
  };
  const auto served = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  ASSERT_TRUE(served);
  const HttpServer& server = **served;
  std::vector<OwnedFd> open;
  const auto is_served = [&] {
    open.push_back(ConnectTo(server));
    Send(open.back(), "GET /metrics HTTP/1.1\r\n\r\n");
    return Receive(open.back(), "hello\n").ends_with("hello\n");
  };
  EXPECT_TRUE(is_served());
  EXPECT_TRUE(is_served());
  EXPECT_FALSE(is_served());
  user = 1001;
  EXPECT_TRUE(is_served());
  EXPECT_TRUE(is_served());
  user = 1002;
  EXPECT_FALSE(is_served());
  user = 0;
  EXPECT_TRUE(is_served());
  open.clear();
  user = 1000;
  ASSERT_TRUE(Eventually([&] { return server.connections() == 0; }));
  EXPECT_TRUE(is_served());
}

TEST(Http, AThreadEndsThoughAClientSaysNothing) {
  auto server = Serve();
  const OwnedFd silent = ConnectTo(*server);
  ASSERT_TRUE(Eventually([&] { return server->connections() == 1; }));
  server.reset();
}

// An answer that is worth keeping, and how often it was made.
HttpOptions OptionsWithKept(std::atomic<int>& made) {
  HttpOptions options = OptionsWith();
  options.limits.cache_bytes = 1 << 20;
  options.routes.Add("GET", "/kept", [&](const HttpRequest&) {
    ++made;
    HttpAnswer answer{200, "application/json", std::string(5000, '7')};
    answer.reuse = HttpReuse::kKeep;
    return answer;
  });
  return options;
}

std::string FieldOf(const std::string& head, const std::string& name) {
  const size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 4;
  return head.substr(from, head.find('\r', from) - from);
}

TEST(Http, AThreadKeepsAnswersAndChecksTags) {
  std::atomic<int> made = 0;
  auto server = HttpServer::Open(*ParseAddress("127.0.0.1:0"), OptionsWithKept(made));
  ASSERT_TRUE(server);
  const OwnedFd client = ConnectTo(**server);
  Send(client, "GET /kept HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string head = Receive(client, "\r\n\r\n");
  EXPECT_EQ(FieldOf(head, "content-length"), "5000");
  EXPECT_EQ(FieldOf(head, "cache-control"), "no-cache");
  EXPECT_THAT(Receive(client, std::string(5000, '7')), StartsWith("7"));
  const std::string tag = FieldOf(head, "etag");
  Send(client, "GET /kept HTTP/1.1\r\nHost: x\r\nIf-None-Match: " + tag + "\r\n\r\n");
  const std::string same = Receive(client, "\r\n\r\n");
  EXPECT_THAT(same, StartsWith("HTTP/1.1 304 "));
  EXPECT_EQ(FieldOf(same, "etag"), tag);
  Send(client, "GET /kept HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
  const std::string packed = Receive(client, "\r\n\r\n");
  EXPECT_EQ(FieldOf(packed, "content-encoding"), "gzip");
  EXPECT_NE(FieldOf(packed, "etag"), tag);
  EXPECT_LT(std::stoi(FieldOf(packed, "content-length")), 200);
  EXPECT_EQ(made, 1);
  Send(client, "GET /kept?packed HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(FieldOf(Receive(client, "\r\n\r\n"), "content-encoding"), "gzip");
  Send(client, "GET /kept?packed HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(Receive(client, std::string(5000, '7')), HasSubstr("content-length: 5000"));
  EXPECT_EQ(made, 2);
  // An answer is counted once it is sent.
  EXPECT_TRUE(Eventually([&] { return (*server)->figures().answered_from_memory == 3; }));
}

TEST(Http, AThreadJudgesTheSameBytesAgainOnceItIsTold) {
  std::atomic<int> made = 0;
  std::atomic<int> judged = 0;
  std::atomic<bool> refuses = false;
  HttpOptions options = OptionsWithKept(made);
  options.judge = [&](const HttpRequest&) {
    ++judged;
    HttpVerdict verdict;
    if (refuses) verdict.refusal = HttpAnswer{403, "text/plain", "no\n"};
    return verdict;
  };
  std::atomic<int> logged = 0;
  options.log = [&](const HttpExchange& exchange) {
    if (exchange.route == "/kept" && exchange.status == 200 && exchange.bytes == 5000) ++logged;
  };
  auto server = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  ASSERT_TRUE(server);
  const OwnedFd client = ConnectTo(**server);
  const auto ask = [&](const std::string& fields) {
    Send(client, "GET /kept HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n");
    const std::string head = Receive(client, "\r\n\r\n");
    const std::string size = FieldOf(head, "content-length");
    EXPECT_EQ(
        Receive(client, head.starts_with("HTTP/1.1 200 ") ? std::string(5000, '7') : "no\n").size(),
        std::stoul(size));
    return head.substr(9, 3);
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(""), "200");
  EXPECT_EQ(judged, 2) << "made, kept, and from then on known by its bytes";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("Cookie: secret\r\n"), "200");
  EXPECT_EQ(judged, 5) << "secrets are always compared";
  EXPECT_TRUE(Eventually([&] { return logged == 8; }));
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(Eventually([&] { return (*server)->figures().answered_from_memory == 7; }));
  refuses = true;
  EXPECT_EQ(ask(""), "200");
  (*server)->Reconsider();
  EXPECT_EQ(ask(""), "403");
}

TEST(Http, AThreadAnswersWhatComesInOnePieceInOrder) {
  const auto server = Serve();
  const OwnedFd client = ConnectTo(*server);
  std::string all;
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i) + ";";
    all += "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(text.size()) +
           "\r\n\r\n" + text;
  }
  Send(client, all + "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answers = Receive(client, "hello\n");
  size_t at = 0;
  for (int i = 0; i < 20; ++i) {
    at = answers.find("|" + std::to_string(i) + ";", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

class CountedUpload : public HttpUpload {
 public:
  explicit CountedUpload(std::atomic<size_t>& most) : most_(most) {}
  std::optional<HttpAnswer> Take(std::string_view piece) override {
    most_ = std::max(most_.load(), piece.size());
    bytes_ += piece.size();
    if (piece.find('!') == std::string_view::npos) return std::nullopt;
    return HttpAnswer{422, "text/plain", "no\n"};
  }
  HttpAnswer Finish() override { return {201, "text/plain", std::to_string(bytes_) + "\n"}; }

 private:
  std::atomic<size_t>& most_;
  size_t bytes_ = 0;
};

class ThreeLines : public HttpStream {
 public:
  std::optional<std::string> Next() override {
    if (++calls_ > 6) return std::nullopt;
    return calls_ % 2 == 0 ? "line\n" : "";
  }

 private:
  int calls_ = 0;
};

TEST(Http, AThreadTakesUploadsInPiecesAndSendsStreams) {
  std::atomic<size_t> most = 0;
  HttpOptions options = OptionsWith();
  options.routes.Add({"POST",
                      "/upload",
                      {},
                      [&](const HttpRequest&) { return std::make_unique<CountedUpload>(most); },
                      uint64_t{1} << 30});
  options.routes.Add("GET", "/lines", [](const HttpRequest&) {
    HttpAnswer answer;
    answer.stream = std::make_shared<ThreeLines>();
    return answer;
  });
  const auto server = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  ASSERT_TRUE(server);
  const OwnedFd client = ConnectTo(**server);
  const std::string megabytes(5'000'000, 'x');
  Send(client, "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                   std::to_string(megabytes.size()) + "\r\n\r\n");
  EXPECT_THAT(Receive(client, "\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  Send(client, megabytes);
  EXPECT_THAT(Receive(client, "5000000\n"), StartsWith("HTTP/1.1 201 "));
  EXPECT_LT(most, 300'000u);
  Send(client, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(Receive(client, "0\r\n\r\n"),
              testing::EndsWith("5\r\nline\n\r\n5\r\nline\n\r\n5\r\nline\n\r\n0\r\n\r\n"));
  Send(client, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n!");
  Send(client, "12345678");
  EXPECT_THAT(Receive(client, "no\n"), StartsWith("HTTP/1.1 422 "));
}

TEST(Http, AThreadAnswersOthersWhileSomethingSlowRuns) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> begun = 0;
  HttpOptions options = OptionsWith({});
  options.limits.workers = 1;
  options.routes.Add({"GET",
                      "/slow",
                      [&](const HttpRequest&) {
                        ++begun;
                        ended.wait();
                        return HttpAnswer{200, "text/plain", "slow\n"};
                      },
                      {},
                      {},
                      true});
  const auto server = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  ASSERT_TRUE(server);
  const OwnedFd first = ConnectTo(**server);
  const OwnedFd second = ConnectTo(**server);
  for (const OwnedFd* slow : {&first, &second})
    Send(*slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return begun.load() == 1; }));
  const OwnedFd client = ConnectTo(**server);
  Send(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(Receive(client, "hello\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(begun, 1);
  end.set_value();
  for (const OwnedFd* slow : {&first, &second}) {
    EXPECT_THAT(Receive(*slow, "slow\n"), StartsWith("HTTP/1.1 200 "));
  }
}

TEST(Http, AThreadAnswersWhoIsTooSlow) {
  HttpLimits limits;
  limits.head_patience = Nanos{200'000'000};
  limits.body_patience = Nanos{200'000'000};
  const auto server = Serve(limits);
  const OwnedFd head = ConnectTo(*server);
  Send(head, "GET /metr");
  EXPECT_THAT(Receive(head, "never"), StartsWith("HTTP/1.1 408 "));
  const OwnedFd body = ConnectTo(*server);
  Send(body, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\nabc");
  EXPECT_THAT(Receive(body, "never"), StartsWith("HTTP/1.1 408 "));
}

TEST(Http, AThreadEndsWhatRunsBeforeItEnds) {
  HttpOptions options = OptionsWith();
  std::atomic<bool> begun = false;
  options.routes.Add("GET", "/slow", [&](const HttpRequest&) {
    begun = true;
    std::this_thread::sleep_for(milliseconds(300));
    return HttpAnswer{200, "text/plain", "done\n"};
  });
  auto server = HttpServer::Open(*ParseAddress("127.0.0.1:0"), std::move(options));
  ASSERT_TRUE(server);
  const OwnedFd idle = ConnectTo(**server);
  const OwnedFd client = ConnectTo(**server);
  Send(client, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(Eventually([&] { return begun.load(); }));
  (*server)->Drain(kNever);
  EXPECT_THAT(Receive(client, "done\n"), HasSubstr("done"));
  EXPECT_EQ((*server)->connections(), 0u);
}

TEST(Http, ATakenPortIsSaid) {
  const auto server = Serve();
  const auto again = HttpServer::Open(server->address(), OptionsWith());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST(Http, SendingEndsInTime) {
  Address address = *ParseAddress("127.0.0.1:0");
  const OwnedFd listener(*Listen(address));  // it takes connections, and never answers
  const auto sent =
      Post({"127.0.0.1", std::to_string(address.port), "/"}, "text/plain", "x", Nanos{200'000'000});
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("no answer in time"));
}

}  // namespace
}  // namespace beryl::server
