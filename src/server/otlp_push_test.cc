#include "server/otlp_push.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "server/address.h"
#include "server/socket.h"

namespace beryl::server {
namespace {

TEST(Otlp, AThreadGoesOnWhileTheCollectorIsGoneAndSaysItOnce) {
  Address address = *ParseAddress("127.0.0.1:0");
  { const OwnedFd listener(*Listen(address)); }  // nobody listens there any more
  std::atomic<int> said = 0;
  const OtlpPush push(
      {{"127.0.0.1", std::to_string(address.port), ""}, Nanos{1'000'000}}, [] { return "{}"; },
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
