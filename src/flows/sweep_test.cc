#include "flows/sweep.h"

#include "base/matchers_for_test.h"
#include "flows/find_model.h"

namespace beryl::flows {
namespace {

constexpr const char* kSmall = R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 8, "n_head": 2,
                                   "vocab_size": 50, "n_positions": 128})";

Result<Sweep> SweepOf(const std::vector<std::string>& values,
                      const models::DescribeOptions& base = {.input = {.seq = 16}}) {
  const VariantMaker maker = {.make = [](Description description) -> Result<DescribedPrediction> {
    DescribedPrediction made;
    made.description = std::move(description);
    return made;
  }};
  return SweepVariants({"small", kSmall}, base, values, {maker});
}

std::string Refusal(const std::string& values) {
  const auto sweep = SweepOf({values});
  if (sweep) return "";
  EXPECT_EQ(sweep.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(sweep.error().options, ElementsAre("sweep"));
  return sweep.error().message;
}

TEST(SweepVariants, TriesEveryCombinationAndTheLastKeyChangesFastest) {
  const auto sweep = SweepOf({"n_layer=1,2", "batch=4,8"});
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_THAT(sweep->keys, ElementsAre("n_layer", "batch"));
  std::vector<std::vector<std::string>> values;
  for (const SweepRow& row : sweep->rows) values.push_back(row.values);
  EXPECT_THAT(values, ElementsAre(ElementsAre("1", "4"), ElementsAre("1", "8"),
                                  ElementsAre("2", "4"), ElementsAre("2", "8")));
  EXPECT_EQ(sweep->rows[1].prediction.description.input.batch, 8);
}

TEST(SweepVariants, ChangesKeysTogether) {
  const auto sweep = SweepOf({"batch:seq=1:16, 2:8"});
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_EQ(sweep->rows.size(), 2U);
  EXPECT_EQ(sweep->rows[1].prediction.description.input.batch, 2);
  EXPECT_EQ(sweep->rows[1].prediction.description.input.seq, 8);
}

TEST(SweepVariants, KeepsOnlyTheRootOfEachVariant) {
  const auto sweep = SweepOf({"n_layer=1,2"});
  ASSERT_TRUE(sweep);
  const auto flops = [&](size_t row) {
    EXPECT_EQ(sweep->rows[row].prediction.description.tree.nodes.size(), 1U);
    return sweep->rows[row].prediction.description.nodes[0].work.flops;
  };
  EXPECT_GT(flops(1), flops(0));
}

TEST(SweepVariants, HasARowForEachProfile) {
  const models::DescribeOptions base = {.input = {.seq = 16}};
  const auto make = [](Description) -> Result<DescribedPrediction> {
    DescribedPrediction made;
    made.description.tree.nodes.resize(1);
    made.description.nodes.resize(1);
    return made;
  };
  const auto sweep =
      SweepVariants({"small", kSmall}, base, {"batch=1,2"},
                    {{.profile = "a", .make = make}, {.profile = "b", .make = make}});
  ASSERT_TRUE(sweep);
  EXPECT_THAT(sweep->keys, ElementsAre("batch", "profile"));
  ASSERT_EQ(sweep->rows.size(), 4U);
  EXPECT_THAT(sweep->rows[1].values, ElementsAre("1", "b"));
}

TEST(SweepVariants, SaysWhyAVariantIsImpossible) {
  const auto sweep = SweepOf({"n_head=2,3"});  // 8 is not a multiple of 3
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->rows[0].failure, "");
  EXPECT_THAT(sweep->rows[1].failure, HasSubstr("do not divide"));
  EXPECT_THAT(sweep->rows[1].failure, Not(HasSubstr("small:"))) << "the sweep names the model";
  const auto none = SweepOf({"n_head=3,5"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("none of the 2 variants is possible"));
}

TEST(SweepVariants, RefusesWhatIsNoSweep) {
  EXPECT_THAT(Refusal("n_layer"), HasSubstr("expected KEY=V1,V2"));
  EXPECT_THAT(Refusal("n_layer="), HasSubstr("a value is missing"));
  EXPECT_THAT(Refusal("=1"), HasSubstr("a key is missing"));
  EXPECT_THAT(Refusal("batch:seq=1:2,3"), HasSubstr("'3' has 1 values for 2 keys"));
  EXPECT_THAT(Refusal("batch:batch=1:2"), HasSubstr("swept twice"));
  EXPECT_THAT(Refusal("batch=1.5"), HasSubstr("whole number"));
  EXPECT_THAT(Refusal("seq=0"), HasSubstr("whole number"));
  EXPECT_THAT(Refusal("dtype=float99"), HasSubstr("expected float32"));
  EXPECT_THAT(Refusal("attention=some"), HasSubstr("expected eager"));
  std::string many = "batch=1";
  for (int i = 2; i <= 10'001; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(Refusal(many), HasSubstr("more than"));
}

TEST(SweepVariants, SaysHowSeveralProfilesAreNamed) {
  const auto sweep = SweepOf({"profile=a100,h100"});
  ASSERT_FALSE(sweep);
  EXPECT_EQ(sweep.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(sweep.error().options, ElementsAre("profile"));
}

TEST(SweepVariants, ChangesTheOptimizerOfAStepOfTraining) {
  models::DescribeOptions base = {.input = {.seq = 16}, .head = models::HeadChoice::kUsual};
  base.training.emplace();
  base.head = models::HeadChoice::kUsual;
  const auto sweep = SweepOf({"optimizer=sgd,adamw"}, base);
  ASSERT_TRUE(sweep) << sweep.error().message;
  const auto work = [&](size_t row) {
    return sweep->rows[row].prediction.description.nodes[0].work.flops;
  };
  EXPECT_LT(work(0), work(1));
}

}  // namespace
}  // namespace beryl::flows
