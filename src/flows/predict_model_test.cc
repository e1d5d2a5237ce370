#include "flows/predict_model.h"

#include "base/matchers_for_test.h"
#include "flows/find_model.h"

namespace beryl::flows {
namespace {

class PredictModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto config = ReadConfig("tests/data/models/tiny-bert.json");
    ASSERT_TRUE(config) << config.error().message;
    config_ = *std::move(config);
    options_.input = {.batch = 2, .seq = 4};
    electricity_.price_per_kwh = 0.5;
    electricity_.co2e_g_per_kwh = 200;
  }
  static ModelPredictor Predictor() { return ModelPredictor(*ReadProfile("gtx1080ti-i9-7900x")); }

  models::ModelConfig config_;
  models::DescribeOptions options_;
  Electricity electricity_;
};

TEST_F(PredictModelTest, CostsFollowFromTheEnergyOfABatch) {
  const auto prediction = Predictor().Predict(config_, options_, electricity_);
  ASSERT_TRUE(prediction) << prediction.error().message;
  ASSERT_THAT(prediction->costs->rows, SizeIs(1));
  const QueryCosts::Row& row = prediction->costs->rows[0];
  const double joules = prediction->energy.total[0];
  EXPECT_TRUE(row.predicted);
  EXPECT_DOUBLE_EQ(row.batch_energy->value, joules);
  EXPECT_DOUBLE_EQ(row.query_energy->value, joules / 2);
  EXPECT_DOUBLE_EQ(*row.cost.kwh, joules / 2 * 1e6 / 3.6e6);
  EXPECT_DOUBLE_EQ(*row.cost.price, *row.cost.kwh * 0.5);
  EXPECT_DOUBLE_EQ(*row.cost.co2e_kg, *row.cost.kwh * 0.2);
  EXPECT_LT(row.cost.kwh_low, row.cost.kwh);
  EXPECT_GT(row.cost.kwh_high, row.cost.kwh);
}

TEST_F(PredictModelTest, AVariantIsWhatItWouldBeAlone) {
  const ModelPredictor predictor = Predictor();
  const auto sweep =
      predictor.PredictVariants(config_, options_, {"batch=2,4", "seq=4,8"}, electricity_);
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_THAT(sweep->keys, ElementsAre("batch", "seq"));
  ASSERT_THAT(sweep->rows, SizeIs(4));
  EXPECT_THAT(sweep->rows[1].values, ElementsAre("2", "8"));
  options_.input = {.batch = 2, .seq = 8};
  const auto alone = predictor.Predict(config_, options_, electricity_);
  ASSERT_TRUE(alone);
  EXPECT_EQ(sweep->rows[1].prediction.energy.total, std::vector{alone->energy.total[0]});
  EXPECT_EQ(sweep->profile, "gtx1080ti-i9-7900x");
}

TEST_F(PredictModelTest, AVariantThatCannotBeSaysWhyAndTheOthersStay) {
  const auto sweep =
      Predictor().PredictVariants(config_, options_, {"num_attention_heads=2,3"}, electricity_);
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_THAT(sweep->rows, SizeIs(2));
  EXPECT_EQ(sweep->rows[0].failure, "");
  EXPECT_NE(sweep->rows[1].failure, "");
}

TEST_F(PredictModelTest, ValuesThatCannotBeUnderstoodAreMisuse) {
  const ModelPredictor predictor = Predictor();
  for (const std::vector<std::string>& values : {std::vector<std::string>{"batch"},
                                                 {"batch=2,,4"},
                                                 {"batch=1.5"},
                                                 {"batch:seq=1,2:3"},
                                                 {"batch=1", "batch=2"},
                                                 {"dtype=float99"}}) {
    const auto sweep = predictor.PredictVariants(config_, options_, values, electricity_);
    ASSERT_FALSE(sweep) << values[0];
    EXPECT_EQ(sweep.error().code, ErrorCode::kMisuse) << values[0];
    EXPECT_THAT(sweep.error().options, ElementsAre("sweep"));
  }
}

ModelRequest Request(const char* model) {
  ModelRequest request;
  request.model = model;
  return request;
}

TEST(PredictModel, WhatDoesNotFitTheDefaultMachineIsNotAnsweredByIt) {
  const auto refused = PredictModel(Request("Llama-3.1-8B"), {}, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("gtx1080ti-i9-7900x"));
  EXPECT_THAT(refused.error().message, HasSubstr("rtx-3090")) << "where it fits";
  EXPECT_THAT(refused.error().options, ElementsAre("profile"));
  // Whoever names the machine is answered, and told.
  const auto asked = PredictModel(Request("Llama-3.1-8B"), {"gtx1080ti-i9-7900x"}, {});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->fits, std::optional(false));
  const auto fits = PredictModel(Request("Llama-3.1-8B"), {"a100"}, {});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->fits, std::optional(true));
  EXPECT_EQ(fits->profile, "a100-80gb-sxm");
}

TEST(PredictModel, ActivationsCanBeWhatDoesNotFit) {
  ModelRequest request = Request("gpt2");
  request.batch = 512;
  request.seq = 1024;
  const auto refused = PredictModel(request, {}, {});
  ASSERT_FALSE(refused) << "0.5 GB of weights, and far more of scores";
  EXPECT_THAT(refused.error().message, HasSubstr("memory"));
}

TEST(PredictModel, TheMeasuredMachineIsPredictedAsItWasMeasured) {
  ModelRequest request = Request("bert-base-uncased");
  request.batch = 8;
  request.seq = 128;
  const auto prediction = PredictModel(request, {}, {});
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->energy.total[0], 14.3, 0.05);
  EXPECT_EQ(prediction->description.attention, AttentionKind::kEager);
  EXPECT_TRUE(prediction->calibrated);
  EXPECT_EQ(PredictModel(request, {"a100"}, {})->description.attention, AttentionKind::kSdpa);
}

TEST(PredictModel, APerTokenOfAGenerationIsAGeneratedToken) {
  ModelRequest request = Request("gpt2");
  request.prompt = 100;
  request.generate = 10;
  request.batch = 2;
  const auto prediction = PredictModel(request, {"a100"}, {});
  ASSERT_TRUE(prediction);
  EXPECT_DOUBLE_EQ(EnergyPerToken(*prediction, 0)->value, prediction->energy.total[0] / 20);
  const NodeId prefill = 1;
  EXPECT_DOUBLE_EQ(EnergyPerToken(*prediction, prefill)->value,
                   prediction->energy.total[prefill] / 200);
}

TEST(PredictModel, TrainingIsUncalibratedAndItsPhasesAddUp) {
  ModelRequest request = Request("distilgpt2");
  request.seq = 64;
  request.training = true;
  for (const char* profile : {"gtx1080ti-i9-7900x", "a100"}) {
    const auto prediction = PredictModel(request, {profile}, {});
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_FALSE(prediction->calibrated) << profile;
    EXPECT_EQ(prediction->energy.origin, Origin::kUncalibrated) << profile;
    double sum = 0;
    std::vector<double> parts;
    for (const NodeId phase : Children(prediction->description.tree, 0)) {
      parts.push_back(prediction->energy.total[phase]);
      sum += parts.back();
    }
    ASSERT_THAT(parts, SizeIs(3));
    EXPECT_NEAR(sum, prediction->energy.total[0], 1e-9 * sum);
    EXPECT_GT(parts[1], parts[0]) << "the backward pass is larger, " << profile;
    EXPECT_GT(parts[2], 0);
  }
}

TEST(PredictModels, SeveralProfilesAreALineEach) {
  ModelRequest request = Request("gpt2");
  request.sweep = {"batch=1,8"};
  const auto sweep = PredictModels(request, {"a100", "h100", "1080ti"}, {});
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_THAT(sweep->keys, ElementsAre("batch", "profile"));
  ASSERT_THAT(sweep->rows, SizeIs(6));
  EXPECT_THAT(sweep->rows[1].values, ElementsAre("1", "h100-sxm"));
  EXPECT_EQ(sweep->rows[2].prediction.description.attention, AttentionKind::kEager);
  EXPECT_EQ(sweep->rows[0].prediction.description.attention, AttentionKind::kSdpa);
  EXPECT_GT(sweep->rows[0].prediction.description.memory.Total(), 0);
  const auto twice = PredictModels(request, {"a100", "A100"}, {});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kMisuse);
}

}  // namespace
}  // namespace beryl::flows
