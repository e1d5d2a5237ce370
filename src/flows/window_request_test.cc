#include "flows/window_request.h"

#include "base/matchers_for_test.h"
#include "flows/account_run.h"
#include "flows/export_run.h"
#include "flows/measure_run.h"
#include "flows/run_files.h"

namespace beryl::flows {
namespace {

const RunFiles kTwoSteps = {
    {},
    {"tests/golden/tensorflow-two-steps/ops.json", "tests/golden/tensorflow-two-steps/ops2.json"},
    {"tests/golden/tensorflow-two-steps/power.csv"}};
constexpr int64_t kBillion = 1'000'000'000;

std::string Problem(const WindowRequest& request) {
  const auto part = ParseWindow(request);
  return part ? "" : part.error().message;
}

TEST(WindowRequest, TimesAreSinceTheStartOrOnTheClock) {
  const auto part = ParseWindow({.from = "2.5", .to = "250ms"});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->from->time.value, 2'500'000'000);
  EXPECT_EQ(part->to->time.value, 250'000'000);
  EXPECT_TRUE(part->from->since_start && part->to->since_start);
  const auto on_clock = ParseWindow({.from = "2026-11-18T01:32:48.25Z", .to = "@1.5"});
  ASSERT_TRUE(on_clock);
  EXPECT_EQ(on_clock->from->time.value, 1'794'965'568 * kBillion + 250'000'000);
  EXPECT_EQ(on_clock->to->time.value, 1500);
  EXPECT_FALSE(on_clock->from->since_start || on_clock->to->since_start);
  for (const char* text : {"soon", "@", "@x", "2.5.1", "4 parsecs", "2026-02-30", "1e300", "nan"}) {
    EXPECT_THAT(Problem({.to = text}), HasSubstr("is no time in a run")) << text;
  }
}

class WindowOfRunTest : public ::testing::Test {
 protected:
  Result<AccountedRun> AccountPart(const WindowRequest& request) const {
    RunOptions options;
    if (const auto part = ParseWindow(request)) options.part = *part;
    return AccountRunOf(kTwoSteps, options);
  }
  std::string Refusal(const WindowRequest& request) const {
    const auto run = AccountPart(request);
    return run ? "" : run.error().message;
  }
};

double TotalOf(const Footprint& footprint) {
  double sum = 0;
  for (const ChannelAccount& channel : footprint.channels) sum += channel.total.value;
  return sum;
}

TEST_F(WindowOfRunTest, StepsGoByNumberNameOrRange) {
  const auto by_number = AccountPart({.step = "1"});
  ASSERT_TRUE(by_number) << by_number.error().message;
  const auto by_name = AccountPart({.step = by_number->input.ops.steps[1].name});
  ASSERT_TRUE(by_name) << by_name.error().message;
  EXPECT_EQ(TotalOf(by_number->footprint), TotalOf(by_name->footprint));
  EXPECT_EQ(by_number->footprint.whole_steps, 1U);
  const auto both = AccountPart({.step = "0-1"});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->footprint.whole_steps, 2U);
  EXPECT_GT(TotalOf(both->footprint), TotalOf(by_number->footprint));
  EXPECT_THAT(Refusal({.step = "7"}), HasSubstr("step 7: the trace has 2 steps, 0 to 1"));
  EXPECT_THAT(Refusal({.step = "1-0"}), HasSubstr("the last is before the first"));
  EXPECT_THAT(Refusal({.step = "0-2"}), HasSubstr("step 2: the trace has 2 steps"));
}

TEST_F(WindowOfRunTest, EveryResultSaysWhichPartItIsOf) {
  const auto run = AccountPart({.step = "1"});
  ASSERT_TRUE(run) << run.error().message;
  const AccountReport report = MakeReport(*run, {});
  ASSERT_TRUE(report.provenance.window);
  EXPECT_EQ(report.provenance.window->steps, "1");
  EXPECT_EQ(report.steps, 1U);
  EXPECT_THAT(report.context.energy_source, HasSubstr("; only step 1, "));
  EXPECT_THAT(StampText(report.provenance), HasSubstr("; only step 1, "));
  // What an export shows beside the report is of the same part.
  const ExportedRun exported = ExportOf(*run, report, {.readings = true, .steps = true});
  double read_j = 0;
  for (const double energy_j : exported.readings.at(0).energy_j) read_j += energy_j;
  EXPECT_NEAR(read_j, report.channels.at(0).measured.value, 1e-9 * read_j);
  ASSERT_FALSE(exported.steps.empty());
  EXPECT_EQ(exported.steps.front().name, "file 2");
  EXPECT_LT(run->input.ops.Glance().All().count, AccountPart({})->input.ops.Glance().All().count);
}

TEST_F(WindowOfRunTest, AMeasurementIsOfItToo) {
  auto input = ReadRunOf(kTwoSteps, {});
  ASSERT_TRUE(input);
  const auto run = AccountPart({.step = "1"});
  const auto measured = MeasureAndCost(*input, "run", {.window = {.step = "1"}});
  ASSERT_TRUE(measured) << measured.error().message;
  const TimeWindow& window = *run->footprint.window;
  EXPECT_DOUBLE_EQ(measured->duration.value, (window.to - window.from).seconds());
  EXPECT_NEAR(measured->channels.at(0).energy->value, run->footprint.channels[0].measured.value,
              1e-9);
  EXPECT_TRUE(measured->provenance.window);
}

}  // namespace
}  // namespace beryl::flows
