#include "base/matchers_for_test.h"
#include "server/server.h"

namespace beryl::server {
namespace {

TEST(MonitorOptionsOf, HasSizesInBytesAndTimes) {
  MonitorRequest request;
  request.limit_megabytes = 3;
  request.otlp_interval = "500ms";
  request.coarse = "none";
  const auto options = MonitorOptionsOf(request);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->limit_bytes, 3'000'000U);
  EXPECT_EQ(options->period, Nanos{4'000'000});
  EXPECT_EQ(options->otlp_interval, Nanos{500'000'000});
  EXPECT_EQ(options->forget_after, Nanos{600'000'000'000});
  EXPECT_EQ(options->coarse_for, CoarseFor::kNobody);
}

TEST(MonitorOptionsOf, NamesTheOptionThatIsWrong) {
  const auto wrong = [](std::string MonitorRequest::*member, const char* text) {
    MonitorRequest request;
    request.*member = text;
    const auto options = MonitorOptionsOf(request);
    return options ? std::vector<std::string_view>() : options.error().options;
  };
  EXPECT_THAT(wrong(&MonitorRequest::period, "20m"), ElementsAre("period"));
  EXPECT_THAT(wrong(&MonitorRequest::otlp_interval, "10ms"), ElementsAre("otlp_interval"));
  EXPECT_THAT(wrong(&MonitorRequest::limit_length, "long"), ElementsAre("limit_length"));
  EXPECT_THAT(wrong(&MonitorRequest::coarse, "some"), ElementsAre("coarse"));
}

}  // namespace
}  // namespace beryl::server
