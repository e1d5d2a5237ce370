// The views of models that were never run.
#include "views/described.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "views/described_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(AmountTest, ThreeDigitsThatCount) {
  EXPECT_EQ(Amount(0), "0");
  EXPECT_EQ(Amount(7), "7");
  EXPECT_EQ(Amount(1.5), "1.50");
  EXPECT_EQ(Amount(999), "999");
  EXPECT_EQ(Amount(999.7), "1.00 k");
  EXPECT_EQ(Amount(1234), "1.23 k");
  EXPECT_EQ(Amount(99'960'000), "100 M");
  EXPECT_EQ(Amount(22.4e9, "FLOP"), "22.4 GFLOP");
  EXPECT_EQ(Amount(3e21), "3000 E");
  EXPECT_EQ(Amount(std::nan("")), "-");
}

TEST(WholeOrFigureTest, WholeNumbersAreWrittenAsSuch) {
  EXPECT_EQ(WholeOrFigure(0), "0");
  EXPECT_EQ(WholeOrFigure(1e15), "1000000000000000");
  EXPECT_EQ(WholeOrFigure(9007199254740992.0), "9007199254740992");
  EXPECT_EQ(WholeOrFigure(0.5), "0.5");
  EXPECT_EQ(WholeOrFigure(std::nan("")), "");
}

class EveryWidthTest : public ::testing::TestWithParam<int> {};

TEST_P(EveryWidthTest, TablesFit) {
  ViewOptions options;
  options.width = GetParam();
  Sweep sweep;
  sweep.keys = {"num_hidden_layers", "batch"};
  sweep.rows.push_back({{"1", "1"}, ThreePredictedLayers(), ""});
  sweep.rows.push_back(
      {{"2", "1"}, {}, "a reason that is longer than any line can be, " + std::string(300, 'x')});
  sweep.profile = "a-machine";
  const std::string pages =
      Write(ThreeLayers(), ShowLayers(ThreeLayers()), Format::kTable, options) +
      Write(ThreePredictedLayers(), Format::kTable, options) +
      Write(sweep, Format::kTable, options);
  for (const std::string_view line : Split(pages, '\n')) {
    EXPECT_LE(DisplayWidth(line), static_cast<size_t>(GetParam())) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, EveryWidthTest, ::testing::Values(80, 100, 130, 160));

TEST(DescriptionViewTest, NumbersOfJsonAreWhole) {
  Description description = ThreeLayers();
  description.nodes[0].work.flops = 9e15;
  const std::string json = Write(description, ShowLayers(description), Format::kJson, {});
  EXPECT_FALSE(json::FindSyntaxError(json));
  EXPECT_THAT(json, StartsWith(R"({"schema":"beryl.describe/2","provenance":{)"));
  EXPECT_THAT(json, HasSubstr(R"("flops":9000000000000000,)"));
  EXPECT_THAT(json, HasSubstr(R"("decoder_seq":null)"));
  EXPECT_THAT(json, Not(HasSubstr("bytes_sent")));
}

TEST(DescriptionViewTest, OperationsWithoutBytesHaveNoIntensity) {
  Description description = ThreeLayers();
  description.nodes[0].work.bytes_read = 0;
  description.nodes[0].work.bytes_written = 0;
  EXPECT_THAT(Write(description, ShowLayers(description), Format::kJson, {}),
              HasSubstr(R"("flops_per_byte":null)"));
}

TEST(DescribedPredictionViewTest, EveryFormatSaysThatItWasNotCalibrated) {
  DescribedPrediction prediction = ThreePredictedLayers();
  EXPECT_THAT(Write(prediction, Format::kTable, {}), Not(HasSubstr("NOT CALIBRATED")));
  prediction.calibrated = false;
  EXPECT_THAT(Write(prediction, Format::kTable, {}), StartsWith("NOT CALIBRATED"));
  EXPECT_THAT(Write(prediction, Format::kJson, {}), HasSubstr(R"("calibrated":false)"));
  EXPECT_THAT(Write(prediction, Format::kCsv, {}), HasSubstr(",a-machine,no,beryl.predict/2,"));
}

TEST(DescribedPredictionViewTest, WhatLiesBeyondTheTrainingIsMarked) {
  const DescribedPrediction prediction = ThreePredictedLayers();
  const std::string table = Write(prediction, Format::kTable, {});
  EXPECT_THAT(table, ContainsRegex("layer\\.1 Layer[^\n]* 50\\.0 J \\*"));
  EXPECT_THAT(table, Not(ContainsRegex("layer\\.0 Layer[^\n]* \\*")));
  EXPECT_THAT(table, HasSubstr("* beyond what the profile was trained on"));
}

TEST(DescribedPredictionViewTest, WithoutTimeThereIsNoPower) {
  DescribedPrediction prediction = ThreePredictedLayers();
  prediction.seconds.clear();
  const std::string json = Write(prediction, Format::kJson, {});
  EXPECT_FALSE(json::FindSyntaxError(json));
  EXPECT_THAT(json, HasSubstr(R"("seconds":null,"power_w":null,"tokens":4,)"));
  EXPECT_THAT(json, HasSubstr(R"("energy_per_token_j":62.5,)"));
}

TEST(SweepViewTest, AVariantThatCannotBeHasItsReason) {
  Sweep sweep;
  sweep.provenance.tool = "beryl 0.0.0";
  sweep.model = "tiny";
  sweep.keys = {"batch", "dtype"};
  DescribedPrediction described;
  described.description = ThreeLayers();
  sweep.rows.push_back({{"1", "int8"}, described, ""});
  sweep.rows.push_back({{"2", "int8"}, {}, "too, large"});
  const std::string json = Write(sweep, Format::kJson, {});
  EXPECT_FALSE(json::FindSyntaxError(json));
  EXPECT_THAT(json, HasSubstr(R"({"values":{"batch":1,"dtype":"int8"},"input":{"seq":4,)"));
  EXPECT_THAT(json,
              HasSubstr(R"("parameters":null,"flops":null,"bytes":null,"failure":"too, large")"));
  EXPECT_THAT(json, Not(HasSubstr("energy_j")));
  EXPECT_THAT(Write(sweep, Format::kCsv, {}),
              EndsWith("tiny,2,int8,,,,,,,,,,,,\"too, large\",beryl.sweep/2,\n"));
}

}  // namespace
}  // namespace beryl::views
