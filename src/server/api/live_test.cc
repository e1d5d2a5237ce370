#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/folder_for_test.h"
#include "server/api/api.h"
#include "server/http/server.h"

namespace beryl::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Meters are a power file that is played.
class LiveTest : public testing::Test, protected FolderForTest {
 protected:
  HttpAnswer Get(const std::string& only, const std::string& query) {
    std::string power = "timestamp_us,device,power_w\n";
    for (int i = 0; i < 1000; ++i) {
      power += fmt::format("{},CPU:0,50\n", 1'700'000'000'000'000 + i * 10'000);
    }
    flows::WatchRequest request;
    request.meters.replay = Write("power.csv", power);
    request.meters.only = only;
    request.interval = "500ms";
    if (options_.routes.routes().empty()) {
      AddLiveRoute(options_.routes, *flows::WatchOptionsOf(request));
    }
    return AnswerTo("GET /api/v1/live" + query + " HTTP/1.1\r\nHost: h\r\n\r\n", options_);
  }
  static std::string NextEvent(const HttpAnswer& answer) {
    for (int i = 0; i < 3000; ++i) {
      auto event = answer.stream->Next();
      if (!event) return "the end";
      if (!event->empty()) return *event;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return "";
  }
  HttpOptions options_;
};

TEST_F(LiveTest, SendsEachLookToAllWhoWatch) {
  const HttpAnswer first = Get("replay", "?count=2");
  ASSERT_TRUE(first.stream) << first.body;
  EXPECT_EQ(first.type, "text/event-stream");
  const HttpAnswer second = Get("replay", "");
  const std::string event = NextEvent(first);
  EXPECT_THAT(event, StartsWith("id: 1\nevent: power\ndata: {\"schema\":\"beryl.top/"));
  EXPECT_THAT(event, HasSubstr("CPU:0"));
  EXPECT_TRUE(event.ends_with("}\n\n"));
  EXPECT_EQ(NextEvent(second), event);
  EXPECT_THAT(NextEvent(first), StartsWith("id: 2\n"));
  EXPECT_EQ(NextEvent(first), "the end");
}

TEST_F(LiveTest, SaysWhatIsWrong) {
  EXPECT_EQ(Get("replay", "?count=0").status, 400);
  EXPECT_EQ(Get("replay", "?cuont=1").status, 400);
}

TEST_F(LiveTest, WithoutMetersThereIsNothing) {
  const HttpAnswer answer = Get("nvml", "");
  if (answer.stream) GTEST_SKIP() << "this machine has such a meter";
  EXPECT_EQ(answer.status, 404);
}

}  // namespace
}  // namespace beryl::server
