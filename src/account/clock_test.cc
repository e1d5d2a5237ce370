#include "account/clock.h"

#include "account/reference_testing.h"
#include "base/matchers_for_test.h"

namespace beryl::account {
namespace {

constexpr int64_t kEpochNs = 1'700'000'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

Result<ClockFit> Fit(const OpTrace& ops, const PowerTrace& power, const AccountOptions& options) {
  return FitClock(SpanOf(ops.Glance().All()), SpanOf(power), ops, options);
}

OpTraceMaker OpsFrom(int64_t start_ns, int64_t end_ns) {
  OpTraceMaker ops;
  ops.Add("A", start_ns, end_ns);
  return ops;
}

PowerTrace PowerFrom(int64_t start_ns, int64_t end_ns) {
  return MakePower({MakeChannel("CPU:0", {start_ns, end_ns}, {10, 10})});
}

TEST(ClockTest, TracesThatMeetAreTakenAsTheyAre) {
  const OpTraceMaker ops = OpsFrom(kEpochNs + 5, kEpochNs + 9);
  const auto fit = Fit(ops, PowerFrom(kEpochNs, kEpochNs + 20), {});
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->Map(Nanos{kEpochNs + 5}).value, kEpochNs + 5);
  EXPECT_EQ(fit->reason, "both traces unchanged");
}

TEST(ClockTest, GivenOffsetIsAddedExactly) {
  AccountOptions options;
  options.clock_offset = Nanos{kEpochNs + 1};
  const auto fit = Fit(OpsFrom(3, 10), PowerFrom(kEpochNs, kEpochNs + 20), options);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->Map(Nanos{3}).value, kEpochNs + 4);
  EXPECT_EQ(fit->offset().value, kEpochNs + 1);
  EXPECT_EQ(fit->reason, "as given");
}

TEST(ClockTest, AlignedStartsPutTheFirstOperationAtTheFirstReading) {
  AccountOptions options;
  options.align_starts = true;
  const auto fit = Fit(OpsFrom(-1000, 10), PowerFrom(kEpochNs, kEpochNs + 20), options);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->Map(Nanos{-1000}).value, kEpochNs);
  EXPECT_EQ(fit->reason, "the starts aligned");
}

TEST(ClockTest, OneAnchorShiftsWithoutDrift) {
  AccountOptions options;
  options.anchors = {{Nanos{100}, Nanos{kEpochNs}}};
  const auto fit = Fit(OpsFrom(0, 300), PowerFrom(kEpochNs, kEpochNs + 1000), options);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->rate, 1);
  EXPECT_EQ(fit->Map(Nanos{0}).value, kEpochNs - 100);
  EXPECT_EQ(fit->Map(Nanos{250}).value, kEpochNs + 150);
}

TEST(ClockTest, TwoAnchorsRecoverAKnownDrift) {
  // The operations' clock loses 50 microseconds a second.
  constexpr double kRate = 1.00005;
  constexpr int64_t kHour = 3600 * kSecond;
  auto power_time = [](int64_t local) {
    return kEpochNs + static_cast<int64_t>(static_cast<double>(local) * kRate);
  };
  AccountOptions options;
  options.anchors = {{Nanos{0}, Nanos{power_time(0)}}, {Nanos{kHour}, Nanos{power_time(kHour)}}};
  const auto fit = Fit(OpsFrom(0, kHour), PowerFrom(kEpochNs, kEpochNs + 2 * kHour), options);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->rate, kRate, 1e-12);
  for (const int64_t local : {int64_t{0}, kHour / 7, kHour / 2, kHour, 2 * kHour, -kHour}) {
    EXPECT_NEAR(static_cast<double>(fit->Map(Nanos{local}).value - power_time(local)), 0, 2);
  }
  EXPECT_THAT(fit->reason, AllOf(HasSubstr("2 anchors"), HasSubstr("+50.000 ppm")));
}

TEST(ClockTest, ManyAnchorsAreFittedAndTheWorstResidualIsTold) {
  AccountOptions options;
  for (int64_t i = 0; i <= 10; ++i) {
    const int64_t jitter = i == 5 ? 11'000 : 0;
    options.anchors.push_back({Nanos{i * kSecond}, Nanos{kEpochNs + i * kSecond + jitter}});
  }
  const auto fit =
      Fit(OpsFrom(0, 10 * kSecond), PowerFrom(kEpochNs, kEpochNs + 10 * kSecond), options);
  ASSERT_TRUE(fit);
  // The one late anchor stands in the middle, so it shifts the line and does not tilt it.
  EXPECT_NEAR(fit->rate, 1, 1e-12);
  EXPECT_NEAR(static_cast<double>(fit->Map(Nanos{0}).value - kEpochNs), 1'000, 2);
  EXPECT_THAT(fit->reason, HasSubstr("worst residual 10.000 us"));
}

TEST(ClockTest, MappingKeepsTheOrderOfTimes) {
  ClockFit fit;
  fit.ops0 = Nanos{1000};
  fit.rate = 0.3;
  for (int64_t time = 900; time < 1100; ++time) {
    EXPECT_LE(fit.Map(Nanos{time}), fit.Map(Nanos{time + 1})) << time;
  }
}

TEST(ClockTest, AnchorsThatRunBackwardOrStandStillAreRefused) {
  AccountOptions options;
  const OpTraceMaker ops = OpsFrom(0, 100);
  for (const auto& second : {ClockAnchor{Nanos{50}, Nanos{-50}}, ClockAnchor{Nanos{0}, Nanos{50}},
                             ClockAnchor{Nanos{50}, Nanos{0}}}) {
    options.anchors = {{Nanos{0}, Nanos{0}}, second};
    const auto fit = Fit(ops, PowerFrom(0, 100), options);
    ASSERT_FALSE(fit);
    EXPECT_EQ(fit.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(fit.error().message, HasSubstr("anchors"));
  }
}

TEST(ClockTest, SpansThatDoNotOverlapShowBothAndTheWaysOut) {
  const OpTraceMaker ops = OpsFrom(5 * kSecond, 7 * kSecond);
  const auto fit = Fit(ops, PowerFrom(kEpochNs, kEpochNs + kSecond), {});
  ASSERT_FALSE(fit);
  EXPECT_EQ(fit.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(fit.error().message, AllOf(HasSubstr("5.000000 s"), HasSubstr("7.000000 s"),
                                         HasSubstr("2023-11-14 22:13:20.000000 UTC"),
                                         HasSubstr("2023-11-14 22:13:21.000000 UTC"),
                                         HasSubstr("first operation at the first reading"),
                                         HasSubstr("give an offset"), HasSubstr("on both clocks"),
                                         HasSubstr("1699999995000000.000 would align the starts")));
}

// Half-open intervals that only touch share no instant.
TEST(ClockTest, SpansThatOnlyTouchDoNotOverlap) {
  EXPECT_FALSE(Fit(OpsFrom(0, 100), PowerFrom(100, 200), {}));
  EXPECT_FALSE(Fit(OpsFrom(200, 300), PowerFrom(100, 200), {}));
  EXPECT_TRUE(Fit(OpsFrom(0, 101), PowerFrom(100, 200), {}));
}

TEST(ClockTest, AWrongOffsetIsAnErrorToo) {
  AccountOptions options;
  options.clock_offset = Nanos{kEpochNs};
  EXPECT_FALSE(Fit(OpsFrom(0, 100), PowerFrom(0, 100), options));
}

TEST(ClockTest, NoOperationsFitAnyClock) { EXPECT_TRUE(Fit(OpTrace(), PowerFrom(0, 100), {})); }

TEST(ClockTest, AligningStartsIsOfferedOnlyWhereAClockIsRelative) {
  const auto offer = HasSubstr("put the first operation at the first reading");
  const PowerTrace power = PowerFrom(kEpochNs, kEpochNs + kSecond);
  const auto relative = Fit(OpsFrom(5, 10), power, {});
  ASSERT_FALSE(relative);
  EXPECT_THAT(relative.error().message, offer);
  EXPECT_THAT(Fit(OpsFrom(kEpochNs, kEpochNs + 9), PowerFrom(5, 10), {}).error().message, offer);

  const OpTraceMaker later = OpsFrom(kEpochNs + 60 * kSecond, kEpochNs + 61 * kSecond);
  const auto known = Fit(later, power, {});
  ASSERT_FALSE(known);
  EXPECT_THAT(known.error().message, Not(offer));
  EXPECT_THAT(known.error().message, Not(HasSubstr("would align the starts")));
  EXPECT_THAT(known.error().message, HasSubstr("Both count from the epoch"));
  AccountOptions options;
  options.align_starts = true;
  EXPECT_EQ(Fit(later, power, options)->reason,
            "the starts aligned, although both traces count from the epoch");
}

}  // namespace
}  // namespace beryl::account
