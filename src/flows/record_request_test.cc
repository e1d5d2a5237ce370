#include "flows/record_request.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

RecordRequest OfACommand() {
  RecordRequest request;
  request.command = {"true"};
  return request;
}

TEST(RecordOptionsOf, RecordsTheMachineUnlessToldOtherwise) {
  const auto options = RecordOptionsOf({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->period, Nanos{4'000'000});
  EXPECT_THAT(options->plan.command, IsEmpty());
  EXPECT_EQ(options->plan.rounds, 0U);
  EXPECT_FALSE(options->plan.length);
  EXPECT_FALSE(options->replace);
}

TEST(RecordOptionsOf, WarmsUpBeforeSeveralRounds) {
  RecordRequest request = OfACommand();
  request.repeat = 1;
  EXPECT_EQ(RecordOptionsOf(request)->plan.warm_up, 0U);
  request.repeat = 5;
  EXPECT_EQ(RecordOptionsOf(request)->plan.warm_up, 1U);
  request.warm_up = 0;
  EXPECT_EQ(RecordOptionsOf(request)->plan.warm_up, 0U);
}

TEST(RecordOptionsOf, TakesACommandThatRunsForATimeOrRestsAsOneRound) {
  RecordRequest request = OfACommand();
  request.length = "2s";
  EXPECT_EQ(RecordOptionsOf(request)->plan.rounds, 1U);
  EXPECT_EQ(RecordOptionsOf(request)->plan.length, Nanos{2'000'000'000});
  request = OfACommand();
  request.cool_down = "1s";
  EXPECT_EQ(RecordOptionsOf(request)->plan.rounds, 1U);
  // Without a command it is how long to record.
  RecordRequest machine;
  machine.length = "2s";
  EXPECT_EQ(RecordOptionsOf(machine)->plan.rounds, 0U);
}

TEST(RecordOptionsOf, RefusesPartsThatDoNotGoTogether) {
  const auto refused = [](const RecordRequest& request) {
    const auto options = RecordOptionsOf(request);
    return options ? "" : options.error().message;
  };
  RecordRequest rounds;
  rounds.repeat = 3;
  EXPECT_THAT(refused(rounds), HasSubstr("need a command"));
  RecordRequest rests;
  rests.cool_down = "1s";
  EXPECT_THAT(refused(rests), HasSubstr("need a command"));
  RecordRequest force = OfACommand();
  force.force = true;
  EXPECT_THAT(refused(force), HasSubstr("no file to replace"));
  RecordRequest both = OfACommand();
  both.pids = {1};
  EXPECT_THAT(refused(both), HasSubstr("not both"));
  RecordRequest printed = OfACommand();
  printed.output = "-";
  EXPECT_THAT(refused(printed), HasSubstr("standard output"));
  RecordRequest slow;
  slow.period = "11m";
  EXPECT_THAT(refused(slow), HasSubstr("1ms to 10m"));
}

}  // namespace
}  // namespace beryl::flows
