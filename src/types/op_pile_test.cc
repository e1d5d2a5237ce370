#include "types/op_pile.h"

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl {
namespace {

using AsTuple = std::tuple<int64_t, int64_t, uint32_t, uint32_t, uint32_t, uint16_t>;
AsTuple TupleOf(const Op& op) {
  return {op.start.value, op.end.value, op.kind, op.lane, op.step, op.device};
}
std::vector<AsTuple> TuplesOf(const std::vector<Op>& ops) {
  std::vector<AsTuple> tuples;
  for (const Op& op : ops) tuples.push_back(TupleOf(op));
  return tuples;
}

constexpr size_t kFew = 100;  // may be a list
constexpr size_t kMany = 5 * OpPile::kInPiece + 7;

// Nearly in order, as traces are, with many that start together.
std::vector<Op> SomeOps(size_t count, int64_t unit) {
  std::mt19937_64 random(count);
  std::vector<Op> ops;
  for (size_t i = 0; i < count; ++i) {
    const int64_t start = static_cast<int64_t>(i / 3 + random() % 40) * unit;
    const auto lane = static_cast<uint32_t>(random() % 4);
    const auto step = static_cast<uint32_t>(random() % 3);
    ops.push_back({Nanos{start}, Nanos{start + static_cast<int64_t>(random() % 500) * unit},
                   static_cast<uint32_t>(random() % 1000), lane == 0 ? kNoLane : lane,
                   step == 0 ? kNoStep : step, static_cast<uint16_t>(random() % 3)});
  }
  return ops;
}

std::vector<Op> Unpacked(OpTrace trace) {
  trace.Unpack();
  return std::move(trace.ops);
}

bool EvenKinds(Op& op) {
  op.device = static_cast<uint16_t>(op.device + 1);
  return op.kind % 2 == 0;
}

// What is to come of it, by the plainest means.
std::vector<Op> Expected(std::vector<Op> ops, bool sorted) {
  std::vector<Op> kept;
  for (Op& op : ops) {
    if (EvenKinds(op)) kept.push_back(op);
  }
  if (sorted) {
    std::stable_sort(kept.begin(), kept.end(),
                     [](const Op& a, const Op& b) { return a.start < b.start; });
  }
  return kept;
}

TEST(OpPileTest, AFewStayAListInTheOrderInWhichTheyCame) {
  const std::vector<Op> ops = SomeOps(kFew, 1000);
  OpPile pile(kFew);
  for (const Op& op : ops) pile.Add(op);
  OpTrace trace;
  pile.MoveTo(trace, EvenKinds);
  EXPECT_EQ(trace.packed, nullptr);
  EXPECT_EQ(TuplesOf(trace.ops), TuplesOf(Expected(ops, false)));
}

TEST(OpPileTest, ManyArePackedInOrder) {
  for (const int64_t unit : {int64_t{1000}, int64_t{7}}) {
    const std::vector<Op> ops = SomeOps(kMany, unit);
    OpPile pile(kFew);
    for (const Op& op : ops) pile.Add(op);
    std::vector<AsTuple> seen;
    pile.ForEach([&](Op& op) {
      seen.push_back(TupleOf(op));
      op.kind = 1;
      return true;
    });
    auto given = TuplesOf(ops);
    std::sort(given.begin(), given.end());
    std::sort(seen.begin(), seen.end());
    EXPECT_TRUE(seen == given);
    OpTrace trace;
    trace.devices = {"0", "1", "2", "3"};
    pile.MoveTo(trace, EvenKinds);
    ASSERT_NE(trace.packed, nullptr);
    EXPECT_TRUE(trace.ops.empty());
    const std::vector<Op> expected = Expected(ops, true);
    EXPECT_EQ(trace.Glance().All().count, expected.size());
    EXPECT_EQ(trace.Glance().devices[0].count, 0U);
    trace.packed = InStep(trace.packed, 9);
    std::vector<Op> in_step = expected;
    for (Op& op : in_step) op.step = op.step == kNoStep ? 9 : op.step;
    EXPECT_TRUE(TuplesOf(Unpacked(std::move(trace))) == TuplesOf(in_step));
  }
}

TEST(OpPileTest, BesideOthersTheyAreAList) {
  const std::vector<Op> ops = SomeOps(kMany, 1000);
  OpPile pile(kFew);
  for (const Op& op : ops) pile.Add(op);
  OpTrace trace;
  trace.ops = SomeOps(1, 1000);
  pile.MoveTo(trace, EvenKinds);
  EXPECT_EQ(trace.packed, nullptr);
  EXPECT_EQ(trace.ops.size(), Expected(ops, true).size() + 1);
}

TEST(OpPileTest, TimesOfBrokenTracesComeBackAsTheyWere) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  std::vector<Op> ops = SomeOps(OpPile::kInPiece, 1000);
  for (const auto& [start, end] : {std::pair(kLeast, kMost), std::pair(kMost, kLeast),
                                   std::pair(kLeast, kLeast), std::pair(int64_t{5}, int64_t{1})}) {
    ops.push_back({Nanos{start}, Nanos{end}, 0, kNoLane, kNoStep, 0});
  }
  // Whole microseconds, but farther apart than a time can be.
  ops.push_back({Nanos{-9'000'000'000'000'000'000}, Nanos{9'000'000'000'000'000'000}, 0, 0, 0, 0});
  OpPile pile(kFew);
  for (const Op& op : ops) pile.Add(op);
  OpTrace trace;
  pile.MoveTo(trace, [](Op&) { return true; });
  auto packed = TuplesOf(Unpacked(std::move(trace)));
  auto given = TuplesOf(ops);
  std::sort(packed.begin(), packed.end());
  std::sort(given.begin(), given.end());
  EXPECT_TRUE(packed == given);
}

}  // namespace
}  // namespace beryl
