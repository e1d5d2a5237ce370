#include "account/feed.h"

#include "account/reference_testing.h"
#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl::account {
namespace {

class FeedTest : public ::testing::Test {
 protected:
  void Operations(const std::vector<std::string>& devices) {
    for (const std::string& device : devices) ops_.Add("A", 0, 10, device);
  }
  void Channels(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      power_.channels.push_back(MakeChannel(name, {0, 10}, {1, 1}));
    }
  }
  FeedPlan Plan() {
    auto plan = PlanFeeds(power_, ops_, static_cast<const OpTrace&>(ops_).Glance(), options_);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    return plan ? std::move(*plan) : FeedPlan();
  }
  const ChannelFeed& FeedOf(const FeedPlan& plan, std::string_view channel) const {
    return plan.channels[IndexOf(channel)];
  }
  std::vector<std::string> FedBy(const FeedPlan& plan, std::string_view channel) {
    std::vector<std::string> names;
    for (const uint16_t device : FeedOf(plan, channel).devices) {
      names.push_back(ops_.trace().devices[device]);
    }
    return names;
  }
  std::string WithinOf(const FeedPlan& plan, std::string_view channel) const {
    return plan.containment.WithinText(IndexOf(channel));
  }
  size_t IndexOf(std::string_view channel) const {
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      if (power_.channels[i].name == channel) return i;
    }
    ADD_FAILURE() << "no channel " << channel;
    return 0;
  }

  OpTraceMaker ops_;
  PowerTrace power_;
  AccountOptions options_;
};

TEST_F(FeedTest, AGpuFeedsWhatRanOnThatGpu) {
  Operations({"CPU:0", "GPU:0", "GPU:1"});
  Channels({"CPU:0", "GPU:0", "GPU:1"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "GPU:1"), ElementsAre("GPU:1"));
  EXPECT_EQ(FeedOf(plan, "GPU:1").words, "operations on GPU:1");
  EXPECT_THAT(Plain(plan.notes), IsEmpty());
}

TEST_F(FeedTest, EveryPackageAndMemoryOfAHostFeedsItsOneCpu) {
  Operations({"CPU:0"});
  Channels({"CPU:0", "CPU:1", "DRAM:0", "DRAM:1"});
  const FeedPlan plan = Plan();
  for (const char* channel : {"CPU:0", "CPU:1", "DRAM:0", "DRAM:1"}) {
    EXPECT_THAT(FedBy(plan, channel), ElementsAre("CPU:0")) << channel;
    EXPECT_EQ(FeedOf(plan, channel).words, "operations on CPU:0 (the host)");
  }
}

TEST_F(FeedTest, SeveralCpusThatAllHaveChannelsAreMatchedOneToOne) {
  Operations({"CPU:0", "CPU:1"});
  Channels({"CPU:0", "CPU:1", "CPU:2", "DRAM:0", "DRAM:1", "DRAM:5"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "CPU:0"), ElementsAre("CPU:0"));
  EXPECT_THAT(FedBy(plan, "CPU:1"), ElementsAre("CPU:1"));
  EXPECT_THAT(FedBy(plan, "CPU:2"), IsEmpty());
  EXPECT_THAT(FedBy(plan, "DRAM:0"), ElementsAre("CPU:0"));
  EXPECT_THAT(FedBy(plan, "DRAM:1"), ElementsAre("CPU:1"));
  // Memory that belongs to no package there is: the whole host's.
  EXPECT_THAT(FedBy(plan, "DRAM:5"), ElementsAre("CPU:0", "CPU:1"));
}

TEST_F(FeedTest, SeveralCpusWithoutAChannelEachAreOneHost) {
  Operations({"CPU:0", "CPU:1"});
  Channels({"CPU:0", "DRAM:0"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "CPU:0"), ElementsAre("CPU:0", "CPU:1"));
  EXPECT_THAT(FedBy(plan, "DRAM:0"), ElementsAre("CPU:0", "CPU:1"));
}

TEST_F(FeedTest, ADeviceThatIsNamedButRanNothingDoesNotCount) {
  ops_.Device("CPU:1");
  Operations({"CPU:0"});
  Channels({"CPU:0", "CPU:1"});
  EXPECT_THAT(FedBy(Plan(), "CPU:1"), ElementsAre("CPU:0"));
}

TEST_F(FeedTest, ContainersFeedNothingAndContainTheRest) {
  Operations({"CPU:0", "GPU:0"});
  Channels({"wall", "psys", "CPU:0", "DRAM:0", "GPU:0", "fan"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "wall"), IsEmpty());
  EXPECT_THAT(FedBy(plan, "psys"), IsEmpty());
  EXPECT_THAT(FeedOf(plan, "wall").words, HasSubstr("rest of the machine"));
  EXPECT_TRUE(plan.containment.IsContainer(IndexOf("wall")));
  EXPECT_EQ(WithinOf(plan, "wall"), "");
  EXPECT_EQ(WithinOf(plan, "psys"), "wall");
  EXPECT_EQ(WithinOf(plan, "CPU:0"), "psys");
  EXPECT_EQ(WithinOf(plan, "DRAM:0"), "psys");
  EXPECT_EQ(WithinOf(plan, "GPU:0"), "wall");
  EXPECT_EQ(WithinOf(plan, "fan"), "wall");
}

TEST_F(FeedTest, WithoutABoardMeterTheWallContainsThePackages) {
  Operations({"CPU:0"});
  Channels({"wall", "CPU:0", "DRAM:0"});
  const FeedPlan plan = Plan();
  EXPECT_EQ(WithinOf(plan, "CPU:0"), "wall");
  EXPECT_EQ(WithinOf(plan, "DRAM:0"), "wall");
}

TEST_F(FeedTest, CoresAreWithinThePackageOfTheirNumber) {
  Operations({"CPU:0"});
  Channels({"CPU:0", "CPU:1", "CORE:0", "CORE:1", "UNCORE:1"});
  const FeedPlan plan = Plan();
  EXPECT_EQ(WithinOf(plan, "CORE:0"), "CPU:0");
  EXPECT_EQ(WithinOf(plan, "CORE:1"), "CPU:1");
  EXPECT_EQ(WithinOf(plan, "UNCORE:1"), "CPU:1");
  EXPECT_THAT(FedBy(plan, "CORE:1"), IsEmpty());
  EXPECT_EQ(FeedOf(plan, "CORE:1").words,
            "nothing: contained in CPU:1, whose energy is attributed");
  EXPECT_THAT(Plain(plan.notes), IsEmpty());
}

TEST_F(FeedTest, WhatIsWithinAChannelThatIsSharedOutFeedsNothing) {
  Operations({"CPU:0"});
  Channels({"CPU:0", "DRAM:0", "CPU:0:counter"});
  power_.channels[1].meter.within = "CPU:0";
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "CPU:0"), ElementsAre("CPU:0"));
  EXPECT_THAT(FedBy(plan, "DRAM:0"), IsEmpty());
  EXPECT_THAT(FedBy(plan, "CPU:0:counter"), IsEmpty());
  EXPECT_EQ(FeedOf(plan, "DRAM:0").words,
            "nothing: contained in CPU:0, whose energy is attributed");
  EXPECT_THAT(Plain(plan.notes), IsEmpty());
}

TEST_F(FeedTest, AMeterOfOneReadingContainsNothing) {
  Operations({"CPU:0"});
  Channels({"wall", "CPU:0"});
  power_.channels.push_back(MakeChannel("psys", {5}, {1}));
  EXPECT_EQ(WithinOf(Plan(), "CPU:0"), "wall");
}

TEST_F(FeedTest, WhatCannotBeIsSaid) {
  Operations({"CPU:0"});
  Channels({"CPU:0"});
  power_.channels[0].meter.within = "rack";
  EXPECT_THAT(Plain(Plan().notes), ElementsAre("within_not_there CPU:0 within=rack"));
}

TEST_F(FeedTest, CoresWithoutTheirPackageAreWithinTheBox) {
  Operations({"CPU:0"});
  Channels({"wall", "CPU:0", "CORE:3"});
  EXPECT_EQ(WithinOf(Plan(), "CORE:3"), "wall");
}

TEST_F(FeedTest, OtherChannelsFeedADeviceOfExactlyTheirName) {
  Operations({"TPU:0", "TPU:1"});
  Channels({"TPU:0", "fan"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "TPU:0"), ElementsAre("TPU:0"));
  EXPECT_THAT(FedBy(plan, "fan"), IsEmpty());
}

TEST_F(FeedTest, PowerWithoutOperationsAndOperationsWithoutPowerAreSaid) {
  Operations({"CPU:0", "TPU:0"});
  Channels({"CPU:0", "GPU:3"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(Plain(plan.notes),
              ElementsAre("power_without_operations GPU:3", "operations_without_power TPU:0"));
  EXPECT_EQ(FeedOf(plan, "GPU:3").words,
            "no operation: the operation trace has none on this device");
}

TEST_F(FeedTest, OperationsOfAnotherTaskAreNotGuessedAtButTheWayIsShown) {
  Operations({"CPU:0", "job:worker/task:1/CPU:0"});
  Channels({"CPU:0"});
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "CPU:0"), ElementsAre("CPU:0"));
  EXPECT_THAT(Plain(plan.notes),
              Contains("operations_without_power job:worker/task:1/CPU:0 channel=CPU:0"));
}

TEST_F(FeedTest, AFeedCanBeGivenByNamesAllOrNone) {
  Operations({"CPU:0", "GPU:0", "GPU:1"});
  Channels({"CPU:0", "GPU:0", "wall"});
  options_.feeds["CPU:0"] = {"GPU:1", "CPU:0", "GPU:1"};
  options_.feeds["GPU:0"] = {"none"};
  options_.feeds["wall"] = {"all"};
  const FeedPlan plan = Plan();
  EXPECT_THAT(FedBy(plan, "CPU:0"), ElementsAre("CPU:0", "GPU:1"));
  EXPECT_EQ(FeedOf(plan, "CPU:0").words, "operations on CPU:0, GPU:1, as the user gave it");
  EXPECT_THAT(FedBy(plan, "GPU:0"), IsEmpty());
  EXPECT_EQ(FeedOf(plan, "GPU:0").words, "nothing, as the user gave it");
  EXPECT_THAT(FedBy(plan, "wall"), ElementsAre("CPU:0", "GPU:0", "GPU:1"));
  EXPECT_THAT(FeedOf(plan, "wall").words, HasSubstr("its remainder"))
      << "what it contains is not given out twice";
  EXPECT_THAT(Plain(plan.notes), Not(Contains(HasSubstr("power_without_operations"))));
}

TEST_F(FeedTest, UnknownNamesAreMisuseAndListWhatThereIs) {
  Operations({"CPU:0", "GPU:0"});
  Channels({"CPU:0", "DRAM:0"});
  options_.feeds["GPU:9"] = {"all"};
  auto plan = PlanFeeds(power_, ops_, static_cast<const OpTrace&>(ops_).Glance(), options_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(plan.error().message,
              AllOf(HasSubstr("feeds"), HasSubstr("GPU:9"), HasSubstr("CPU:0, DRAM:0")));

  options_.feeds = {{"CPU:0", {"GPU:4"}}};
  plan = PlanFeeds(power_, ops_, static_cast<const OpTrace&>(ops_).Glance(), options_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(plan.error().message,
              AllOf(HasSubstr("feeds"), HasSubstr("GPU:4"), HasSubstr("CPU:0, GPU:0")));

  options_.feeds.clear();
  options_.idle_power["GPU:2"] = Watts{3};
  plan = PlanFeeds(power_, ops_, static_cast<const OpTrace&>(ops_).Glance(), options_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(plan.error().message,
              AllOf(HasSubstr("idle power"), HasSubstr("GPU:2"), HasSubstr("CPU:0, DRAM:0")));

  options_.idle_power = {{"all", Watts{3}}};
  EXPECT_TRUE(PlanFeeds(power_, ops_, static_cast<const OpTrace&>(ops_).Glance(), options_));
}

}  // namespace
}  // namespace beryl::account
