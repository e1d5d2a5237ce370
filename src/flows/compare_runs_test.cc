#include "flows/compare_runs.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(TakeSidesTest, WhatSeparatesThemIsRemoved) {
  std::vector<std::string> runs = {"a", "b", "|", "c"};
  EXPECT_THAT(*TakeSides(runs, "|"), ElementsAre(2, 1));
  EXPECT_THAT(runs, ElementsAre("a", "b", "c"));
  EXPECT_THAT(*TakeSides(runs, "|"), IsEmpty());
  for (std::vector<std::string> bad :
       {std::vector<std::string>{"|"}, {"a", "|"}, {"a", "|", "|", "b"}}) {
    const auto sides = TakeSides(bad, "|");
    ASSERT_FALSE(sides);
    EXPECT_EQ(sides.error().code, ErrorCode::kMisuse);
  }
}

TEST(LabelSidesTest, OfRunsOrOfSides) {
  const std::vector<std::string> files = {"x/a.beryl", "x/b.beryl", "x/c.beryl"};
  const auto plain = LabelSides(files, {2, 1}, "");
  EXPECT_THAT(plain->runs, ElementsAre("a", "b", "c"));
  EXPECT_THAT(plain->sides, IsEmpty());
  const auto sides = LabelSides(files, {2, 1}, "old,new");
  EXPECT_THAT(sides->runs, ElementsAre("a", "b", "c"));
  EXPECT_THAT(sides->sides, ElementsAre("old", "new"));
  EXPECT_THAT(LabelSides(files, {2, 1}, "p,q,r")->runs, ElementsAre("p", "q", "r"));
  EXPECT_FALSE(LabelSides(files, {2, 1}, "p"));
  EXPECT_FALSE(LabelSides(files, {2, 1}, "p,p"));
}

}  // namespace
}  // namespace beryl::flows
