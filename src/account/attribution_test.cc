#include "account/attribution.h"

#include <cmath>
#include <limits>

#include "account/reference_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

AttributionResult AttributeOne(const OpTrace& ops, const ClockFit& clock,
                               std::vector<const PowerCurve*> curves) {
  const std::vector<bool> devices(ops.devices.size(), true);
  return AttributeEnergy(ops, {{devices, std::move(curves), &clock}}, 1).groups.front();
}

// The energy of each kind under a single curve, in the order in which kinds were named.
std::vector<double> EnergyByKind(const OpTrace& ops, const PowerChannel& channel) {
  const PowerCurve curve = MakeCurve(channel, Policy::kHold);
  const AttributionResult result = AttributeOne(ops, {}, {&curve});
  std::vector<double> energy(ops.kinds.size(), 0);
  for (size_t cell = 0; cell < result.cells.size(); ++cell) {
    energy[result.cells[cell].kind] += result.energy_j[cell];
  }
  return energy;
}

// One joule a nanosecond, so that energies read as times.
PowerChannel JoulePerNano() { return MakeChannel("CPU:0", {0, 1000}, {1e9, 1e9}); }

void ExpectEnergies(const OpTrace& ops, const std::vector<double>& by_kind) {
  EXPECT_THAT(EnergyByKind(ops, JoulePerNano()), Pointwise(DoubleEq(), by_kind));
}

TEST(AttributionTest, OnlyTheInnermostOfALaneIsAtWork) {
  OpTraceMaker ops;
  ops.Add("outer", 0, 100, "CPU:0", 0)
      .Add("middle", 20, 80, "CPU:0", 0)
      .Add("inner", 30, 40, "CPU:0", 0);
  ExpectEnergies(ops, {40, 50, 10});
}

TEST(AttributionTest, LanesAndLanelessOperationsShareEqually) {
  OpTraceMaker ops;
  ops.Add("outer", 0, 100, "CPU:0", 0).Add("inner", 50, 100, "CPU:0", 0);
  ops.Add("other lane", 0, 100, "CPU:0", 1).Add("no lane", 0, 100).Add("no lane", 0, 100);
  ExpectEnergies(ops, {12.5, 12.5, 25, 50});
}

TEST(AttributionTest, AChildMayOutlastItsCaller) {
  OpTraceMaker ops;
  ops.Add("caller", 0, 50, "CPU:0", 0).Add("child", 20, 80, "CPU:0", 0);
  ops.Add("next", 90, 100, "CPU:0", 0);
  ExpectEnergies(ops, {20, 60, 10});
}

TEST(AttributionTest, OperationsThatStartTogetherNestInTheOrderOfTheTrace) {
  OpTraceMaker ops;
  ops.Add("outer", 0, 100, "CPU:0", 0).Add("inner", 0, 40, "CPU:0", 0);
  ExpectEnergies(ops, {60, 40});
}

TEST(AttributionTest, TheOrderOfOperationsInTheTraceDoesNotMatterOtherwise) {
  OpTraceMaker ops;
  ops.Add("inner", 30, 40, "CPU:0", 0).Add("outer", 0, 100, "CPU:0", 0);
  ExpectEnergies(ops, {10, 90});
}

TEST(AttributionTest, ATinyOperationIsReadOffAHugeTotal) {
  // A nanojoule after a petajoule: the running integral must not swallow it.
  OpTraceMaker ops;
  constexpr int64_t kHour = 3'600'000'000'000;
  ops.Add("huge", 0, kHour).Add("tiny", kHour, kHour + 1);
  const PowerChannel channel = MakeChannel("CPU:0", {0, kHour, kHour + 1}, {1e12, 1, 1});
  const std::vector<double> energy = EnergyByKind(ops, channel);
  EXPECT_NEAR(energy[0], 3.6e15, 1);
  EXPECT_NEAR(energy[1], 1e-9, 1e-18);
}

TEST(AttributionTest, ManyRunsOfOneKindAddUpToTheWhole) {
  OpTraceMaker ops;
  constexpr int64_t kRuns = 200'000;
  for (int64_t i = 0; i < kRuns; ++i) ops.Add("A", i * 7, i * 7 + 7);
  const PowerChannel channel = MakeChannel("CPU:0", {0, kRuns * 7}, {0.1, 0.1});
  const double whole = 0.1 * static_cast<double>(kRuns) * 7e-9;
  EXPECT_NEAR(EnergyByKind(ops, channel)[0], whole, 1e-10 * whole);
}

TEST(AttributionTest, OperationsOfDecadesDoNotWrapAround) {
  OpTraceMaker ops;
  constexpr int64_t kDecades = 4'000'000'000'000'000'000;
  for (int i = 0; i < 5; ++i) ops.Add("A", 0, kDecades);
  const PowerCurve known = MakeCurve(MakeChannel("CPU:0", {0, 10}, {1, 1}), Policy::kHold);
  const PowerCurve always = MakeCurve(MakeChannel("CPU:0", {0, kDecades}, {1, 1}), Policy::kHold);
  const AttributionResult result = AttributeOne(ops, {}, {&known, &always});
  EXPECT_EQ(result.uncovered_ns[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(result.busy_ns[0], 50);
  EXPECT_EQ(result.busy_ns[1], std::numeric_limits<int64_t>::max());
  EXPECT_NEAR(result.energy_j[1], 4e9, 1);
}

TEST(AttributionTest, ADriftingClockKeepsEveryNanosecondsOwner) {
  // Lengths that a clock of a third of the speed rounds to nothing are no operations any more.
  OpTraceMaker ops;
  for (int64_t i = 0; i < 300; ++i) ops.Add("A", i, i + 1, "CPU:0", 0);
  ClockFit slow;
  slow.rate = 1.0 / 3;
  const PowerCurve curve = MakeCurve(JoulePerNano(), Policy::kHold);
  const AttributionResult result = AttributeOne(ops, slow, {&curve});
  EXPECT_DOUBLE_EQ(result.energy_j[0], 100);
  EXPECT_EQ(result.cells[0].count, 300U);
  EXPECT_DOUBLE_EQ(result.idle_j[0], 900);
}

}  // namespace
}  // namespace beryl::account
