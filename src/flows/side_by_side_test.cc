#include "flows/side_by_side.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

constexpr const char* kBert = "tests/data/models/tiny-bert.json";

TEST(ReadOperand, TellsRunsFromModels) {
  EXPECT_EQ(ReadOperand("a.beryl").run, "a.beryl");
  EXPECT_EQ(ReadOperand("tests/data/recordings/training.beryl").model, "");
  EXPECT_EQ(ReadOperand("bert-base-uncased").model, "bert-base-uncased");
  EXPECT_EQ(ReadOperand("me@home/config.json@h100-sxm").model, "me@home/config.json");
  EXPECT_EQ(ReadOperand("me@home/config.json@h100-sxm").profile, "h100-sxm");
}

SideBySideOptions TwoByFour() {
  SideBySideOptions options;
  options.describe.input = {.batch = 2, .seq = 4};
  return options;
}

TEST(CompareWithModels, TwoProfilesDifferInEnergyAndInNothingThatIsDescribed) {
  SideBySideOptions options = TwoByFour();
  options.columns = {"energy", "flops"};
  // Otherwise each profile decides, by what it was measured with.
  options.given.attention = true;
  const auto set =
      CompareWithModels({{.label = "a", .model = kBert, .profile = "h100-sxm"},
                         {.label = "b", .model = kBert, .profile = "gtx1080ti-i9-7900x"}},
                        options);
  ASSERT_TRUE(set) << set.error().message;
  const Column* flops = set->tree.Find("difference_flops");
  const Column* energy = set->tree.Find("difference_energy");
  ASSERT_NE(flops, nullptr);
  ASSERT_NE(energy, nullptr);
  EXPECT_EQ(flops->total[0], 0);
  EXPECT_GT(energy->total[0], 0);
}

TEST(CompareWithModels, WhatWasNotPredictedIsComparedByItsWorkAndThatIsSaid) {
  const auto set = CompareWithModels(
      {{.label = "a", .model = kBert}, {.label = "b", .model = kBert}}, TwoByFour());
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_NE(set->tree.Find("difference_flops"), nullptr);
  ASSERT_EQ(set->notes.size(), 1u);
  EXPECT_EQ(set->notes[0].kind, NoteKind::kComparedByFlops);
}

TEST(CompareWithModels, AColumnThatNotAllHaveIsMisuse) {
  SideBySideOptions options = TwoByFour();
  options.columns = {"energy"};
  const auto set = CompareWithModels(
      {{.label = "a", .model = kBert, .profile = "h100-sxm"}, {.label = "b", .model = kBert}},
      options);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(set.error().message, HasSubstr("flops"));
}

}  // namespace
}  // namespace beryl::flows
