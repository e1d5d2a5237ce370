#include "analyze/analyze.h"
#include "base/matchers_for_test.h"

namespace beryl::analyze {
namespace {

Measurement TwoDevices() {
  Measurement measured;
  for (const auto& [name, joules] : {std::pair("CPU:0", 30.0), {"GPU:0", 70.0}}) {
    DeviceEnergy& device = measured.devices.emplace_back();
    device.device = name;
    device.energy = Joules{joules};
  }
  measured.total.energy = Joules{100};
  measured.total.ours = Joules{60};
  return measured;
}

BudgetVerdict Check(std::string_view text, const Measurement& measured = TwoDevices(),
                    bool allow_incomplete = false) {
  auto source = ByteSource::FromMemory(text, "budget.txt");
  const auto lines = ReadBudget(source);
  EXPECT_TRUE(lines) << lines.error().message;
  return CheckBudget(*lines, measured, allow_incomplete).front();
}

TEST(CheckMeasuredBudget, TotalOursAndDevices) {
  EXPECT_TRUE(Check("total 100 J").passed);
  EXPECT_FALSE(Check("total 99 J").passed);
  EXPECT_TRUE(Check("ours 60%").passed);
  EXPECT_FALSE(Check("ours 59 J").passed);
  EXPECT_TRUE(Check("GPU:0 70%").passed);
  EXPECT_THAT(Check("GPU:* 69 J").reason, HasSubstr("1.00 J over"));
  EXPECT_DOUBLE_EQ(ValueOrNan(Check("* 1 J").energy), 100);
}

TEST(CheckMeasuredBudget, WhatIsNotThereFails) {
  EXPECT_THAT(Check("gpu 1 kJ").nearest, ElementsAre("CPU:0", "GPU:0"));
  EXPECT_FALSE(Check("gpu 1 kJ").passed);
  EXPECT_THAT(Check("optimizer 30%").reason, HasSubstr("no phases"));
  EXPECT_FALSE(Check("total 1 kJ per step").passed) << "no rounds";
}

TEST(CheckMeasuredBudget, MissingReadingsDoNotKeepALimit) {
  Measurement measured = TwoDevices();
  measured.total.missing = {"DRAM:0 for 1.5 s"};
  EXPECT_FALSE(Check("total 1 kJ", measured).passed);
  EXPECT_FALSE(Check("ours 1 kJ", measured).passed);
  measured.devices[1].gaps.emplace_back();
  EXPECT_FALSE(Check("GPU:0 1 kJ", measured).passed);
  EXPECT_TRUE(Check("CPU:0 1 kJ", measured).passed);
}

TEST(CheckMeasuredBudget, WhatIsThereMayDecide) {
  Measurement measured = TwoDevices();
  measured.total.missing = {"CPU:0 for 31.6 ms"};
  const BudgetVerdict kept = Check("total 1 kJ", measured, true);
  EXPECT_TRUE(kept.passed);
  EXPECT_THAT(kept.reason, HasSubstr("readings are missing"));
  EXPECT_FALSE(Check("total 99 J", measured, true).passed);
  measured.total.energy.reset();
  EXPECT_FALSE(Check("total 1 kJ", measured, true).passed) << "nothing is there";
}

// Two rounds of four runs each, and a warm-up.
Measurement WithRounds() {
  Measurement measured = TwoDevices();
  for (const auto& [energy, ours] : {std::pair(38.0, 22.0), {42.0, 26.0}, {999.0, 999.0}}) {
    WindowEnergy& round = measured.windows.emplace_back();
    round.runs = 4;
    round.energy = Joules{energy};
    round.ours = Joules{ours};
  }
  measured.windows.back().warm_up = true;
  measured.run.time.rounds = 2;
  return measured;
}

TEST(CheckMeasuredBudget, AStepIsARunOfTheCommand) {
  Measurement measured = WithRounds();
  EXPECT_DOUBLE_EQ(ValueOrNan(Check("total 10 J per step", measured).energy), 10);
  EXPECT_TRUE(Check("total 10 J per step", measured).passed);
  EXPECT_FALSE(Check("total 9.9 J per step", measured).passed);
  EXPECT_TRUE(Check("ours 6 J per step", measured).passed);
  EXPECT_FALSE(Check("ours 5.9 J per step", measured).passed);
  EXPECT_EQ(Check("GPU:0 1 kJ per step", measured).reason,
            "of a run of the command, only total and ours are known");
  measured.windows[1].ours.reset();
  EXPECT_EQ(Check("ours 1 kJ per step", measured).reason, "unknown: readings are missing");
  for (WindowEnergy& window : measured.windows) window.energy.reset();
  EXPECT_EQ(Check("total 1 kJ per step", measured).reason, "its energy is unknown");
}

TEST(CheckMeasuredBudget, AnIntervalBeyondTheLimitIsSaid) {
  Measurement measured = WithRounds();
  measured.total.origin = Origin::kEstimated;
  measured.total.high = Joules{150};
  measured.total.ours_high = Joules{120};
  const BudgetVerdict near = Check("total 140 J", measured);
  EXPECT_TRUE(near.passed);
  EXPECT_EQ(near.reason, "an estimate; up to 150 J is possible");
  EXPECT_EQ(Check("total 150 J", measured).reason, "");
  EXPECT_EQ(Check("ours 110 J", measured).reason, "an estimate; up to 120 J is possible");
  EXPECT_EQ(Check("ours 6 J per step", measured).reason, "an estimate; up to 12.0 J is possible");
  EXPECT_EQ(Check("total 140 J", TwoDevices()).reason, "");
  measured.devices[1].high = Joules{80};
  EXPECT_EQ(Check("GPU:0 75 J", measured).reason, "up to 80.0 J is possible");
  EXPECT_EQ(Check("CPU:0 30 J", measured).reason, "");
}

}  // namespace
}  // namespace beryl::analyze
