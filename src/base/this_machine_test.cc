#include "base/this_machine.h"

#include <cstdlib>

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

TEST(TimeNowTest, SourceDateEpochStandsForTheClock) {
  ASSERT_EQ(::setenv("SOURCE_DATE_EPOCH", "1700000000", 1), 0);
  EXPECT_EQ(TimeNow(), "2023-11-14T22:13:20Z");
  ::unsetenv("SOURCE_DATE_EPOCH");
}

TEST(TimeNowTest, WhatIsNoTimeDoesNotStandForTheClock) {
  for (const char* text : {"", "yesterday", "-1", "12x", "999999999999999999999", "253402300800"}) {
    ASSERT_EQ(::setenv("SOURCE_DATE_EPOCH", text, 1), 0);
    EXPECT_THAT(TimeNow(), MatchesRegex("2...-..-..T..:..:..Z")) << text;
  }
  ::unsetenv("SOURCE_DATE_EPOCH");
}

TEST(MachineNameTest, NamesSystemAndCpus) {
  EXPECT_THAT(MachineName(), MatchesRegex(".+ .+ .+, [1-9][0-9]* CPUs"));
}

}  // namespace
}  // namespace beryl
