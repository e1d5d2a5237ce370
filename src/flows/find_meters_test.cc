#include "flows/find_meters.h"

#include "base/matchers_for_test.h"
#include "sources/machine_testing.h"

namespace beryl::flows {
namespace {

constexpr Nanos kNoPatience{1'000'000};

TEST(FindMeters, AnEstimateIsInTheNotesOfEveryRecording) {
  sources::TestMachine machine;
  const auto found = FindMeters(machine.machine(), {}, kNoPatience);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->discovery.channels.empty());
  ASSERT_THAT(found->notes, SizeIs(1));
  EXPECT_EQ(found->notes[0].kind, NoteKind::kCpusEstimated);
}

TEST(FindMeters, ACounterThatStandsStillMayMoveLater) {
  sources::TestMachine machine;
  machine.AddZone("intel-rapl:0", "package-0", 1'000'000);
  const auto found = FindMeters(machine.machine(), {}, kNoPatience);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(sources::NamesOf(found->discovery.channels), Contains("CPU:0"));
  EXPECT_THAT(found->notes, IsEmpty());
}

TEST(FindMeters, AnUnknownSourceIsAMisuse) {
  sources::TestMachine machine;
  const auto found = FindMeters(machine.machine(), {.only = {"abacus"}}, kNoPatience);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(found.error().options, ElementsAre("only"));
}

}  // namespace
}  // namespace beryl::flows
