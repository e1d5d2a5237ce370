#include "base/compensated_sum.h"

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(CompensatedSumTest, KeepsWhatAdditionRoundsAway) {
  CompensatedSum sum;
  sum.Add(1e16);
  for (int i = 0; i < 1000; ++i) sum.Add(1);
  sum.Add(-1e16);
  EXPECT_EQ(sum.value(), 1000);
}

TEST(CompensatedSumTest, TheOrderOfMagnitudesDoesNotMatter) {
  CompensatedSum sum;
  sum.Add(1);
  sum.Add(1e100);
  sum.Add(1);
  sum.Add(-1e100);
  EXPECT_EQ(sum.value(), 2);
}

TEST(CompensatedSumTest, ADifferenceIsExactFarFromZero) {
  CompensatedSum sum;
  sum.Add(1e9);
  const CompensatedSum before = sum;
  for (int i = 0; i < 10; ++i) sum.Add(1e-9);
  EXPECT_NEAR(sum.Since(before), 1e-8, 1e-22);
}

}  // namespace
}  // namespace beryl
