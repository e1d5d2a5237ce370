#include "base/matchers_for_test.h"
#include "server/serve.h"

namespace beryl::server {
namespace {

TEST(ServeOptionsOf, HasTimes) {
  ServeRequest request;
  request.options.read_only = true;
  request.head_time = "1500ms";
  const auto options = ServeOptionsOf(request);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->read_only);
  EXPECT_EQ(options->limits.head_patience, Nanos{1'500'000'000});
  EXPECT_EQ(options->limits.body_patience, Nanos{20'000'000'000});
}

TEST(ServeOptionsOf, NamesTheOptionThatIsWrong) {
  for (const auto& [member, name] : {std::pair(&ServeRequest::head_time, "head_time"),
                                     std::pair(&ServeRequest::body_time, "body_time"),
                                     std::pair(&ServeRequest::idle_time, "idle_time")}) {
    ServeRequest request;
    request.*member = "1ms";
    const auto options = ServeOptionsOf(request);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(options.error().options, ElementsAre(name));
  }
}

}  // namespace
}  // namespace beryl::server
