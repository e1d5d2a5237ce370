#include "base/result.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(ResultTest, HoldsAValue) {
  Result<std::string> result = std::string("yes");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(*result, "yes");
  EXPECT_EQ(result->size(), 3u);
  *result += "!";
  EXPECT_EQ(*result, "yes!");
}

TEST(ResultTest, HoldsAnError) {
  const Result<int> result = MisuseError("no such thing");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kMisuse);
  EXPECT_EQ(result.error().message, "no such thing");
  EXPECT_EQ(Result<int>(IoError("x")).error().code, ErrorCode::kIo);
  EXPECT_EQ(Result<int>(InvalidError("x")).error().code, ErrorCode::kInvalid);
}

TEST(ResultTest, AValueOfOneThatIsGivenUpIsMoved) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 7);
}

TEST(ResultTest, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 7);
}

}  // namespace
}  // namespace beryl
