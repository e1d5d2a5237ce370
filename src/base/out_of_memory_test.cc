#include "base/out_of_memory.h"

#include <string>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

TEST(OutOfMemoryTest, NamesTheAmount) {
  const OutOfMemory problem(size_t{3'500'000'000});
  EXPECT_THAT(problem.what(), HasSubstr("3500.0 MB more"));
  EXPECT_THAT(std::string(problem.what()), testing::MatchesRegex(".*beside the [1-9][0-9]* MB.*"));
}

}  // namespace
}  // namespace beryl
