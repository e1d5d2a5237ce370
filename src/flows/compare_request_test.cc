#include "flows/compare_request.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

std::string Refusal(const CompareRequest& request) {
  const auto plan = PlanComparison(request, "--");
  return plan ? "" : plan.error().message;
}

TEST(PlanComparison, ComparesRunsByNames) {
  const auto plan = PlanComparison({.operands = {"a.beryl", "b.beryl", "c.beryl"}}, "--");
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->on_tree, IsEmpty());
  EXPECT_THAT(plan->sides, IsEmpty());
  EXPECT_FALSE(plan->two);
}

TEST(PlanComparison, ComparesSides) {
  const auto plan = PlanComparison({.operands = {"a.beryl", "b.beryl", "--", "c.beryl"}}, "--");
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->runs, ElementsAre("a.beryl", "b.beryl", "c.beryl"));
  EXPECT_THAT(plan->sides, ElementsAre(2, 1));
  EXPECT_TRUE(plan->two);
}

TEST(PlanComparison, PutsAModelOrWhatHasColumnsOnOneTree) {
  const auto model = PlanComparison({.operands = {"a.beryl", "gpt2@h100"}}, "--");
  ASSERT_TRUE(model);
  ASSERT_EQ(model->on_tree.size(), 2U);
  EXPECT_EQ(model->on_tree[0].run, "a.beryl");
  EXPECT_EQ(model->on_tree[1].profile, "h100");
  const auto columns = PlanComparison({.operands = {"a.beryl", "b.beryl"}, .tree = true}, "--");
  EXPECT_EQ(columns->on_tree.size(), 2U);
}

TEST(PlanComparison, RefusesWhatCannotBeCompared) {
  EXPECT_THAT(Refusal({.operands = {"a.beryl"}}), HasSubstr("two or more runs"));
  EXPECT_THAT(Refusal({.operands = {"a.beryl", "--", "gpt2"}}), HasSubstr("is a model"));
  EXPECT_THAT(Refusal({.operands = {"a.beryl", "--", "b.beryl"}, .tree = true}),
              HasSubstr("not groups"));
  EXPECT_THAT(Refusal({.operands = {"a.beryl", "gpt2"}, .gates = true}),
              HasSubstr("without a model"));
  EXPECT_THAT(Refusal({.operands = {"a.beryl", "b.beryl", "c.beryl"}, .only_two = true}),
              HasSubstr("exactly two"));
}

}  // namespace
}  // namespace beryl::flows
