#include "flows/export_run.h"

#include <cmath>
#include <numeric>

#include "base/matchers_for_test.h"
#include "flows/run_files.h"

namespace beryl::flows {
namespace {

const RunFiles kTwoSteps = {
    {},
    {"tests/golden/tensorflow-two-steps/ops.json", "tests/golden/tensorflow-two-steps/ops2.json"},
    {"tests/golden/tensorflow-two-steps/power.csv"}};

constexpr ExportNeeds kAll = {true, true, true, true};

ExportedRun Exported(const RunFiles& files) {
  const RunOptions options;
  auto run = AccountRunOf(files, options);
  EXPECT_TRUE(run) << run.error().message;
  return ExportOf(*run, MakeReport(*run, options), kAll);
}

TEST(ExportRunTest, StepsAndReadingsAddUpToTheAccount) {
  const ExportedRun exported = Exported(kTwoSteps);
  const Column& energy = exported.report.tree.columns.front();
  double steps_j = 0;
  for (const StepEnergy& step : exported.steps) {
    double self_j = 0;
    for (const auto& [node, joules] : step.self_j) self_j += joules;
    EXPECT_NEAR(self_j, step.energy_j, 1e-12);
    double channels_j = 0;
    for (const double joules : step.channel_j) channels_j += std::isnan(joules) ? 0 : joules;
    EXPECT_NEAR(channels_j, self_j, 1e-12);
    EXPECT_LT(step.start, step.end);
    steps_j += self_j;
  }
  EXPECT_THAT(exported.steps, SizeIs(2));
  EXPECT_NEAR(steps_j, energy.total[0], 1e-12);
  ASSERT_EQ(exported.readings.size(), exported.report.channels.size());
  for (size_t i = 0; i < exported.readings.size(); ++i) {
    const auto& read = exported.readings[i];
    EXPECT_EQ(read.channel, exported.report.channels[i].channel);
    EXPECT_EQ(read.energy_j.size() + 1, read.times.size());
    EXPECT_NEAR(std::accumulate(read.energy_j.begin(), read.energy_j.end(), 0.0),
                exported.report.channels[i].measured.value, 1e-12);
  }
}

TEST(ExportRunTest, DataflowOfTheTraceLeadsFromNodeToNode) {
  const ExportedRun exported = Exported(kTwoSteps);
  for (const Flow& flow : exported.dataflow) {
    EXPECT_LT(flow.from, exported.report.tree.tree.size());
    EXPECT_LT(flow.to, exported.report.tree.tree.size());
    EXPECT_NE(flow.from, flow.to);
  }
}

TEST(ExportRunTest, TracesAreMovedToTheClockOfThePower) {
  RunOptions options;
  options.account.clock_offset = Nanos{1'000};
  auto run = AccountRunOf(kTwoSteps, options);
  ASSERT_TRUE(run);
  const auto traces = TracesToBundle(*run);
  ASSERT_TRUE(traces);
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_EQ((*traces)[1].file, kTwoSteps.ops[1]);
  EXPECT_EQ((*traces)[1].to_power, Nanos{1'000});
  run->input.ops.reports[0].moved = Nanos{500};
  EXPECT_EQ((*TracesToBundle(*run))[0].to_power, Nanos{1'500});
}

TEST(ExportRunTest, WhatCannotBeBundledIsRefused) {
  auto run = AccountRunOf(kTwoSteps, {});
  ASSERT_TRUE(run);
  run->input.ops.devices = {"node1/CPU:0", "node2/CPU:0"};
  EXPECT_THAT(TracesToBundle(*run).error().message, HasSubstr("several machines"));
  run->input.ops.reports[0].format = "xplane";
  EXPECT_THAT(TracesToBundle(*run).error().message, HasSubstr("does not open XPlane"));
  run->input.context.run_files = {"a.beryl"};
  EXPECT_THAT(TracesToBundle(*run).error().message, HasSubstr("a run file does not contain"));
}

TEST(ExportRunTest, EnergyGoesIntoOneXPlaneFile) {
  auto run = AccountRunOf(kTwoSteps, {});
  ASSERT_TRUE(run);
  auto file = GrowingFile::Open(::testing::TempDir() + "/energy.xplane.pb");
  ASSERT_TRUE(file);
  const auto written = WriteXPlaneEnergy(*run, {}, "", *file);
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().message, HasSubstr("one .xplane.pb file"));
}

}  // namespace
}  // namespace beryl::flows
