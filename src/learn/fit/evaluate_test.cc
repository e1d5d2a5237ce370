#include "learn/evaluate.h"

#include <array>
#include <cmath>
#include <map>

#include "base/matchers_for_test.h"
#include "datasets/datasets.h"
#include "learn/learn_testing.h"
#include "learn/predict.h"
#include "learn/profiles.h"

namespace beryl::learn {
namespace {

TrainOptions With(Method method, FeatureSet features = FeatureSet::kAll) {
  TrainOptions options;
  options.method = method;
  options.features = features;
  return options;
}

TEST(Evaluate, TheLawIsAtTheNoiseOfTheMeter) {
  const auto result = Evaluate(MakeDataset(TestMachine{}, 6), nullptr, With(Method::kLaw), 1);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  for (const LevelErrors& level : result->levels) {
    // The mean of |noise| is 0.8 of its deviation of 0.3 %.
    EXPECT_NEAR(level.mape_models, 0.24, 0.08);
    EXPECT_EQ(level.by_model.size(), 6U);
    EXPECT_EQ(level.unpredicted, 0U);
  }
  EXPECT_NEAR(result->levels[0].coverage, 0.9, 0.05);
  EXPECT_EQ(result->laws.size(), 6U);
  EXPECT_EQ(result->protocol, "leave-one-model-out");
}

TEST(Evaluate, SaysHowFarItIsAndStops) {
  for (const FoldBy fold_by : {FoldBy::kModel, FoldBy::kSize}) {
    WorkWatch watch;
    TrainOptions options = With(Method::kEnd2End);
    options.watch = &watch;
    ASSERT_TRUE(Evaluate(MakeDataset(TestMachine{}, 4), nullptr, options, 2, fold_by));
    EXPECT_GT(watch.total(), 4U);
    EXPECT_EQ(watch.done(), watch.total());
  }
  WorkWatch stopped;
  stopped.Stop();
  TrainOptions options = With(Method::kLaw);
  options.watch = &stopped;
  const auto result = Evaluate(MakeDataset(TestMachine{}, 4), nullptr, options, 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotNow);
  EXPECT_EQ(stopped.done(), 0U);
}

TEST(Evaluate, OneModelLeavesNothingToLeaveOut) {
  const auto result = Evaluate(MakeDataset(TestMachine{}, 1), nullptr, With(Method::kLaw), 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("only one model"), HasSubstr("test it on other data")));
}

// The first two models are of one lineage, the others of another.
Dataset OfTwoFamilies(size_t models) {
  Dataset data = MakeDataset(TestMachine{}, models);
  for (ModelRun& run : data.runs) {
    run.lineage = run.model == "model-0" || run.model == "model-1" ? "BERT" : "GPT";
  }
  return data;
}

TEST(Evaluate, FamiliesAreLeftOutWhole) {
  const auto result = Evaluate(OfTwoFamilies(5), nullptr, With(Method::kLaw), 1, FoldBy::kFamily);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->protocol, "leave-one-family-out");
  EXPECT_THAT(result->folds, ElementsAre("BERT", "GPT"));
  EXPECT_EQ(result->laws.size(), 2U);
  for (const LevelErrors& level : result->levels) {
    const std::vector<double>& folds = level.by_fold;
    ASSERT_EQ(folds.size(), 2U);
    // A fold has the mean of its models; every model is in one.
    EXPECT_NEAR(folds[0], (level.by_model.at("model-0") + level.by_model.at("model-1")) / 2, 1e-9);
    EXPECT_NEAR((2 * folds[0] + 3 * folds[1]) / 5, level.mape_models, 1e-9);
    EXPECT_EQ(level.unpredicted, 0U);
    EXPECT_NEAR(level.coverage, 0.9, 0.1);  // of 30 whole models, one is 3 %
  }
}

// What is left out is predicted as if it were other data.
TEST(Evaluate, AFamilyLeftOutIsLikeATestOnIt) {
  const Dataset data = OfTwoFamilies(4);
  Dataset gpt = data;
  std::erase_if(gpt.runs, [](const ModelRun& run) { return run.lineage == "BERT"; });
  Dataset bert = data;
  std::erase_if(bert.runs, [](const ModelRun& run) { return run.lineage == "GPT"; });
  const auto folds = Evaluate(data, nullptr, With(Method::kLaw), 1, FoldBy::kFamily);
  const auto test = Evaluate(gpt, &bert, With(Method::kLaw), 1);
  ASSERT_TRUE(folds.has_value() && test.has_value());
  for (size_t level = 0; level < kDataLevels.size(); ++level) {
    EXPECT_DOUBLE_EQ(folds->levels[level].by_fold[0], test->levels[level].mape_models);
  }
}

TEST(Evaluate, SizesAreLeftOutOfAllModels) {
  const auto result =
      Evaluate(MakeDataset(TestMachine{}, 3), nullptr, With(Method::kLaw), 1, FoldBy::kSize);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->protocol, "leave-one-size-out");
  EXPECT_THAT(result->folds, ElementsAre("8x32", "8x64", "8x128", "16x32", "16x64", "16x128"));
  for (const LevelErrors& level : result->levels) {
    EXPECT_EQ(level.by_fold.size(), 6U);
    EXPECT_EQ(level.by_model.size(), 3U);
    EXPECT_EQ(level.unpredicted, 0U);
  }
}

TEST(Evaluate, WhatCannotBeLeftOutIsSaid) {
  const auto refusal = [](const Dataset& data, FoldBy by) {
    const auto result = Evaluate(data, nullptr, With(Method::kLaw), 1, by);
    return result ? std::string("no refusal") : result.error().message;
  };
  Dataset data = OfTwoFamilies(3);
  data.runs[0].lineage.clear();
  data.runs[1].seq_len.reset();
  EXPECT_THAT(refusal(data, FoldBy::kFamily),
              AllOf(HasSubstr("the family of model-0 is unknown"), HasSubstr("catalog")));
  EXPECT_THAT(refusal(data, FoldBy::kSize), HasSubstr("batch size or length of a run of model-0"));
  EXPECT_THAT(refusal(OfTwoFamilies(2), FoldBy::kFamily),
              HasSubstr("all its runs are of one family"));
  Dataset one = OfTwoFamilies(2);
  one.runs.resize(1);
  EXPECT_THAT(refusal(one, FoldBy::kSize), HasSubstr("all its runs are of one size (8x32)"));
  EXPECT_THAT(refusal(Dataset{}, FoldBy::kSize), Not(HasSubstr("no refusal")));
}

TEST(Evaluate, TheLawNeedsARun) {
  const auto result =
      Evaluate(MakeDataset(TestMachine{}, 3), nullptr, With(Method::kLaw, FeatureSet::kModel), 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kMisuse);
}

TEST(Evaluate, EveryMethodEvaluates) {
  const Dataset data = MakeDataset(TestMachine{}, 3);
  const auto result = Ablate(data, {}, 2);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->evaluations.size(), 2U + 4U * 3U);
  for (const Evaluation& each : result->evaluations) {
    EXPECT_EQ(each.seeds.size(), IsSeeded(each.method) ? 2U : 1U);
    for (const LevelErrors& level : each.levels) {
      EXPECT_TRUE(std::isfinite(level.mape_models));
      EXPECT_LE(level.range[0], level.mape_models);
      EXPECT_GE(level.range[1], level.mape_models);
    }
  }
}

TEST(Evaluate, ThreadsChangeNothing) {
  const Dataset data = MakeDataset(TestMachine{}, 4);
  TrainOptions one = With(Method::kEnd2End);
  one.threads = 1;
  TrainOptions four = one;
  four.threads = 4;
  const auto a = Evaluate(data, nullptr, one, 2);
  const auto b = Evaluate(data, nullptr, four, 2);
  ASSERT_TRUE(a.has_value() && b.has_value());
  for (size_t level = 0; level < 3; ++level) {
    EXPECT_EQ(a->levels[level].mape_nodes, b->levels[level].mape_nodes);
    EXPECT_EQ(a->levels[level].coverage, b->levels[level].coverage);
  }
}

TEST(Evaluate, AnotherMachinesDataIsTested) {
  TestMachine other;
  other.rest_w = 60;
  const Dataset train = MakeDataset(TestMachine{}, 3);
  Dataset test = MakeDataset(other, 2, 9);
  test.name = "other";
  const auto result = Evaluate(train, &test, With(Method::kLaw), 1);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->protocol, "train-test");
  EXPECT_GT(result->levels[2].mape_models, 5);  // it is another machine, and that shows
  ASSERT_FALSE(result->notes.empty());
  EXPECT_THAT(PlainText(result->notes.back()), "tested_on_training");
}

// A primitive that only the left-out model has: it and its parents are unknown, the rest goes on.
TEST(Evaluate, UnknownPrimitivesAreCountedNotGuessed) {
  Dataset data = MakeDataset(TestMachine{}, 3);
  for (ModelRun& run : data.runs) {
    if (run.model == "model-1") run.tree.nodes[2].type = "Rotary";
  }
  const auto result = Evaluate(data, nullptr, With(Method::kSum), 1);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->levels[0].unpredicted, 6U);
  EXPECT_EQ(result->levels[1].unpredicted, 6U);
  EXPECT_EQ(result->levels[2].unpredicted, 6U);
  EXPECT_EQ(result->levels[2].by_model.count("model-1"), 0U);
  ASSERT_EQ(result->notes.size(), 2U);
  EXPECT_THAT(PlainText(result->notes[0]), "type_not_trained Rotary");
  EXPECT_THAT(result->notes[0].first, HasSubstr("model-1 8x32 layer.0.dense"));
  EXPECT_EQ(result->notes[1].count, 12U);
}

TEST(Predict, SaysWhichPrimitiveIsUnknownAndWhere) {
  const Dataset train = MakeDataset(TestMachine{}, 3);
  auto model = Train(train, With(Method::kEnd2End));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  Dataset data = MakeDataset(TestMachine{}, 1, 5);
  data.runs.resize(1);
  data.runs[0].tree.nodes[2].type = "Rotary";
  std::vector<Note> notes;
  const std::vector<Column> columns = Predict(*model, data, notes);
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_TRUE(std::isnan(columns[0].total[0]));
  EXPECT_TRUE(std::isnan(columns[0].total[2]));
  EXPECT_FALSE(std::isnan(columns[0].total[5]));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(PlainText(notes[0]),
              AllOf(HasSubstr("Rotary"), HasSubstr("layernorm, linear, matmul")));
  EXPECT_THAT(notes[0].first, HasSubstr("layer.0.dense"));
}

TEST(Predict, IntervalsStandAroundPredictions) {
  const Dataset data = MakeDataset(TestMachine{}, 4);
  for (const Method method : {Method::kLaw, Method::kEnd2End, Method::kSum, Method::kBaseline}) {
    const auto model = Train(data, With(method));
    ASSERT_TRUE(model.has_value());
    std::vector<Note> notes;
    for (const Column& column : Predict(*model, data, notes)) {
      for (size_t node = 0; node < column.total.size(); ++node) {
        EXPECT_LT(column.low[node], column.high[node]);
        EXPECT_GE(column.low[node], 0);
      }
    }
    EXPECT_TRUE(notes.empty());
  }
}

// What is there of an incomplete run does not add up to the whole.
TEST(Predict, IncompleteRunsAreNotAddedUp) {
  const auto sum = Train(MakeDataset(TestMachine{}, 3), With(Method::kSum));
  const auto law = Train(MakeDataset(TestMachine{}, 3), With(Method::kLaw));
  ASSERT_TRUE(sum.has_value() && law.has_value());
  Dataset data = MakeDataset(TestMachine{}, 1, 5);
  data.runs.resize(1);
  data.runs[0].complete = false;
  std::vector<Note> notes;
  const std::vector<Column> columns = Predict(*sum, data, notes);
  EXPECT_TRUE(std::isnan(columns[0].total[0]));
  EXPECT_FALSE(std::isnan(columns[0].total[2]));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(PlainText(notes[0]), "parts_missing");
  EXPECT_FALSE(std::isnan(Predict(*law, data, notes)[0].total[0]));
}

TEST(Evaluate, WithoutMeasuredEnergyThereIsNothingToTestBy) {
  Dataset test = MakeDataset(TestMachine{}, 2, 9);
  for (ModelRun& run : test.runs) {
    for (double& joules : run.measured) joules = kUnknown;
  }
  const auto result = Evaluate(MakeDataset(TestMachine{}, 3), &test, With(Method::kLaw), 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("no measured energy to test against"));
}

TEST(Train, OneModelHasNoIntervals) {
  const auto model = Train(MakeDataset(TestMachine{}, 1), With(Method::kLaw));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->bands[0].nodes, 0U);
  EXPECT_TRUE(std::isnan(model->trained_on.mape[0]));
  EXPECT_THAT(model->trained_on.models, ElementsAre("model-0"));
}

TEST(Train, WithoutTreesOnlyTheLawWorks) {
  Dataset data = MakeDataset(TestMachine{}, 2);
  for (ModelRun& run : data.runs) run.complete = false;
  EXPECT_TRUE(Train(data, With(Method::kLaw)).has_value());
  const auto irene = Train(data, With(Method::kEnd2End));
  ASSERT_FALSE(irene.has_value());
  EXPECT_THAT(irene.error().message, HasSubstr("whole trees"));
}

TEST(Calibrate, EightRowsAreEnough) {
  const auto result = Calibrate(MakeDataset(TestMachine{}, 6), 8, 0, 50);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->chosen.size(), 8U);
  EXPECT_LT(result->median[2], 0.6);
  EXPECT_GE(result->p95[2], result->median[2]);
  EXPECT_LT(result->expected, 1.5);
}

TEST(Calibrate, RefusesFewerRowsThanTerms) {
  const auto result = Calibrate(MakeDataset(TestMachine{}, 2), 2, 0, 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kMisuse);
  EXPECT_THAT(result.error().message, HasSubstr("too few"));
}

TEST(Calibrate, RefusesMoreRowsThanThereAre) {
  const auto result = Calibrate(MakeDataset(TestMachine{}, 1), 1000, 0, 1);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("fewer than the 1000"));
}

// Leaves out one model at a time.
Result<Evaluation> EvaluationOf(const std::string& path, Method method, uint64_t seeds) {
  const auto data = TRY(datasets::ReadDataset(path, {}));
  return Evaluate(data, nullptr, With(method), seeds);
}

// Its errors by level.
std::array<double, 3> Errors(const std::string& path, Method method, uint64_t seeds) {
  const auto result = EvaluationOf(path, method, seeds);
  EXPECT_TRUE(result.has_value());
  return {result->levels[0].mape_models, result->levels[1].mape_models,
          result->levels[2].mape_models};
}

// The published data, by the published protocol. What the released code gives on it is known.
class PublishedFigures : public ::testing::Test {
 protected:
  void SetUp() override {
    if (PublishedData().empty()) GTEST_SKIP() << kNoPublishedData;
  }
};

TEST_F(PublishedFigures, Law) {
  const auto result = EvaluationOf(PublishedData(), Method::kLaw, 1);
  ASSERT_TRUE(result.has_value());
  EXPECT_LE(result->levels[0].mape_models, 0.55);
  EXPECT_LE(result->levels[1].mape_models, 0.50);
  EXPECT_LE(result->levels[2].mape_models, 0.50);
  for (const LevelErrors& level : result->levels) {
    EXPECT_THAT(level.coverage, AllOf(Ge(0.87), Le(0.93)));
  }
}

TEST_F(PublishedFigures, Sum) {
  const auto errors = Errors(PublishedData(), Method::kSum, 1);
  EXPECT_NEAR(errors[0], 0.70, 0.03);
  EXPECT_NEAR(errors[1], 18.2, 0.5);
  EXPECT_NEAR(errors[2], 17.8, 0.5);
}

TEST_F(PublishedFigures, End2End) {
  const auto errors = Errors(PublishedData(), Method::kEnd2End, 2);
  EXPECT_NEAR(errors[0], 0.70, 0.03);
  EXPECT_NEAR(errors[1], 10.2, 0.4);
  EXPECT_THAT(errors[2], AllOf(Ge(3.9), Le(7.5)));
}

TEST_F(PublishedFigures, CalibrateWithEightRows) {
  const auto data = datasets::ReadDataset(PublishedData(), {});
  ASSERT_TRUE(data.has_value());
  const auto result = Calibrate(*data, 8, 0, 50);
  ASSERT_TRUE(result.has_value());
  EXPECT_LE(result->median[2], 0.6);
}

// The slice that comes with the project. Bounds are what the methods reach and little more, so that
// a method that gets worse is noticed on every machine.
TEST(MeasuredSlice, IsWholeTreesOfSixModels) {
  const auto data = datasets::ReadDataset(kMeasuredSlice, {});
  ASSERT_TRUE(data.has_value()) << data.error().message;
  EXPECT_TRUE(data->notes.empty());
  std::map<std::string, size_t> sizes;
  for (const ModelRun& run : data->runs) {
    EXPECT_TRUE(run.complete);
    ++sizes[run.model];
  }
  EXPECT_THAT(sizes, ::testing::SizeIs(6));
  for (const auto& [model, count] : sizes) EXPECT_EQ(count, 6U) << model;
}

TEST(MeasuredSlice, Law) {
  const auto result = EvaluationOf(kMeasuredSlice, Method::kLaw, 1);
  ASSERT_TRUE(result.has_value());
  EXPECT_LE(result->levels[0].mape_models, 0.57);
  EXPECT_LE(result->levels[1].mape_models, 0.47);
  EXPECT_LE(result->levels[2].mape_models, 0.50);
  for (const LevelErrors& level : result->levels) EXPECT_NEAR(level.coverage, 0.9, 0.05);
}

// Trained on all of this data, so this checks the shipped file, not its accuracy on new data.
TEST(MeasuredSlice, TheShippedLawTellsWhatWasMeasured) {
  const auto data = datasets::ReadDataset(kMeasuredSlice, {});
  const auto shipped = FindProfile("gtx1080ti-i9-7900x");
  ASSERT_TRUE(data.has_value() && shipped.has_value());
  std::vector<Note> notes;
  const std::vector<Column> predicted = Predict(*shipped, *data, notes);
  EXPECT_TRUE(notes.empty());
  double error = 0;
  size_t nodes = 0;
  for (size_t run = 0; run < predicted.size(); ++run) {
    const std::vector<double>& measured = data->runs[run].measured;
    for (size_t node = 0; node < measured.size(); ++node, ++nodes) {
      error += std::abs(predicted[run].total[node] / measured[node] - 1);
    }
  }
  EXPECT_GT(nodes, 5000U);
  EXPECT_LE(100 * error / static_cast<double>(nodes), 0.55);
}

TEST(MeasuredSlice, Sum) {
  const auto errors = Errors(kMeasuredSlice, Method::kSum, 1);
  EXPECT_NEAR(errors[0], 1.20, 0.05);
  EXPECT_NEAR(errors[1], 17.4, 0.2);
  EXPECT_NEAR(errors[2], 16.7, 0.2);
}

TEST(MeasuredSlice, End2End) {
  const auto errors = Errors(kMeasuredSlice, Method::kEnd2End, 2);
  EXPECT_NEAR(errors[0], 1.20, 0.05);
  EXPECT_NEAR(errors[1], 10.8, 0.2);
  EXPECT_NEAR(errors[2], 11.2, 0.5);
}

TEST(MeasuredSlice, CalibrateWithEightRows) {
  const auto data = datasets::ReadDataset(kMeasuredSlice, {});
  ASSERT_TRUE(data.has_value());
  const auto result = Calibrate(*data, 8, 0, 50);
  ASSERT_TRUE(result.has_value());
  EXPECT_LE(result->median[2], 0.52);
}

}  // namespace
}  // namespace beryl::learn
