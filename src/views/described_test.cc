// The views of models that were never run.
#include "views/described.h"

#include <cmath>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "base/text.h"
#include "views/described_testing.h"
#include "views/views.h"

namespace beryl::views {
namespace {

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
  EXPECT_EQ(Amount(-6'435'072), "-6.44 M");
  EXPECT_EQ(Amount(-12.3), "-12.3");
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
  std::string reason = "a reason that is longer than any line";
  for (int i = 0; i < 40; ++i) reason += " can be";
  sweep.rows.push_back({{"2", "1"}, {}, reason});
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
  EXPECT_THAT(Write(prediction, Format::kCsv, {}), HasSubstr(",a-machine,no,beryl.predict/3,"));
}

TEST(DescribedPredictionViewTest, WhatDoesNotFitIsSaidFirst) {
  DescribedPrediction prediction = ThreePredictedLayers();
  prediction.machine = "a small GPU";
  for (const bool fits : {true, false}) {
    prediction.fits = fits;
    const std::string table = Write(prediction, Format::kTable, {});
    EXPECT_EQ(table.starts_with("DOES NOT FIT into the memory of a small GPU"), !fits);
  }
  EXPECT_THAT(Write(prediction, Format::kJson, {}), HasSubstr(R"("fits":false)"));
}

TEST(DescribedPredictionViewTest, TheTitleSaysWhichPassItIs) {
  DescribedPrediction prediction = ThreePredictedLayers();
  EXPECT_THAT(Write(prediction, Format::kTable, {}), HasSubstr("TinyModel, forward pass, batch"));
  prediction.description.training = {OptimizerKind::kSgd, true};
  EXPECT_THAT(Write(prediction, Format::kTable, {}),
              HasSubstr("step of training with sgd, gradient checkpointing"));
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

TEST(SweepViewTest, ANoteOfManyVariantsIsSaidOnce) {
  Sweep sweep;
  sweep.keys = {"batch"};
  sweep.profile = "a-machine";
  for (int batch = 1; batch <= 9; ++batch) {
    SweepRow row{{std::to_string(batch)}, ThreePredictedLayers(), ""};
    row.prediction.notes = {{NoteKind::kBeyondTraining, "", {0.1 * batch}},
                            NoteKind::kTrainedOnForward};
    if (batch > 7) row.prediction.notes.emplace_back(NoteKind::kWithoutTf32);
    sweep.rows.push_back(std::move(row));
  }
  const std::string table = Write(sweep, Format::kTable, {});
  size_t notes = 0;
  for (const std::string_view line : Split(table, '\n')) notes += line.starts_with("note:") ? 1 : 0;
  EXPECT_EQ(notes, 3U) << table;
  EXPECT_THAT(table, HasSubstr("note: of all variants, first batch = 1: 10.0% of the energy"));
  EXPECT_THAT(table, HasSubstr("note: of 2 of 9 variants, first batch = 8: float32"));
}

// Attention that follows the profile is in no line, so that it has to be said.
TEST(SweepViewTest, OnlyWhatAllVariantsShareIsSaidOfAll) {
  Sweep sweep;
  sweep.keys = {"profile"};
  sweep.profile = "a100, measured";
  for (const char* profile : {"a100", "measured"}) {
    SweepRow row{{profile}, ThreePredictedLayers(), ""};
    const bool measured = row.values[0] == "measured";
    row.prediction.description.attention = measured ? AttentionKind::kEager : AttentionKind::kSdpa;
    row.prediction.description.notes = {
        measured ? Note{NoteKind::kAssumedProfileAttention, profile, {"eager"}}
                 : Note{NoteKind::kAssumedSdpa}};
    sweep.rows.push_back(std::move(row));
  }
  const std::string table = Write(sweep, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("all with batch 1, seq 4, gpus 1, dtype float32\n"));
  EXPECT_THAT(table, HasSubstr("assumed: of 1 of 2 variants, first profile = a100: attention is "
                               "scaled_dot_product_attention"));
  EXPECT_THAT(table, HasSubstr("first profile = measured: attention is eager"));
}

TEST(SweepViewTest, SeveralProfilesWithoutAMeterAreSaidInOneSentence) {
  Sweep sweep;
  sweep.keys = {"profile"};
  sweep.profile = "a100, h100";
  for (const char* profile : {"a100", "h100"}) {
    SweepRow row{{profile}, ThreePredictedLayers(), ""};
    row.prediction.profile = profile;
    row.prediction.calibrated = false;
    sweep.rows.push_back(std::move(row));
  }
  EXPECT_THAT(Write(sweep, Format::kTable, {}),
              StartsWith("NOT CALIBRATED: a100, h100 come from datasheets and were never"));
}

// What a user reads first is the energy and how sure it is.
TEST(SweepViewTest, ALongProfileLeavesRoomForTheInterval) {
  Sweep sweep;
  sweep.keys = {"batch", "profile"};
  sweep.profile = "gtx1080ti-i9-7900x";
  sweep.rows.push_back({{"1", "gtx1080ti-i9-7900x"}, ThreePredictedLayers(), ""});
  EXPECT_THAT(Write(sweep, Format::kTable, {}), HasSubstr("225 J - 275 J"));
}

TEST(SweepViewTest, AReasonThatIsCutIsSaidBelowInFull) {
  Sweep sweep;
  sweep.keys = {"batch"};
  sweep.profile = "a-machine";
  const std::string reason =
      "it needs 15.0 GB of memory, and the machine of the default profile has 11.0 GB; name a "
      "machine that holds it";
  for (const char* batch : {"1", "2"}) sweep.rows.push_back({{batch}, {}, reason});
  sweep.rows.push_back({{"4"}, ThreePredictedLayers(), ""});
  const std::string table = Write(sweep, Format::kTable, {});
  EXPECT_THAT(table, HasSubstr("\n  machine that holds it\n"));
  EXPECT_EQ(table.find("impossible: "), table.rfind("impossible: ")) << "once";
  for (int i = 0; i < 9; ++i) sweep.rows[1].failure += " or " + std::to_string(i);
  for (int i = 0; i < 9; ++i) sweep.rows.push_back({{"8"}, {}, reason + std::to_string(i)});
  EXPECT_THAT(Write(sweep, Format::kTable, {}), HasSubstr("\n8 more such reasons are in JSON"));
}

TEST(SweepViewTest, HasColumnsForTokensPowerCostAndMemory) {
  Sweep sweep;
  sweep.keys = {"batch"};
  sweep.profile = "a-machine";
  SweepRow row{{"1"}, ThreePredictedLayers(), ""};
  row.prediction.description.memory.weights = 12e9;
  row.prediction.fits = false;
  QueryCosts& costs = row.prediction.costs.emplace();
  costs.electricity.currency = "EUR";
  costs.rows.emplace_back().cost.price = 7.25;
  sweep.rows.push_back(row);
  ViewOptions wide;
  wide.width = 130;
  const std::string table = Write(sweep, Format::kTable, wide);
  EXPECT_THAT(table, ContainsRegex("memory +energy +between +time +power +per token +cost"));
  EXPECT_THAT(table, ContainsRegex("12\\.0 GB! +250 J .* 2\\.50 s +100 W +62\\.5 J +7\\.25"));
  EXPECT_THAT(table, HasSubstr("in EUR"));
  const std::string csv = Write(sweep, Format::kCsv, {});
  EXPECT_THAT(csv, HasSubstr("memory_bytes,energy_j,low_j,high_j,seconds,power_w,"
                             "energy_per_token_j,kwh,price,co2e_kg"));
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
  EXPECT_THAT(
      json,
      HasSubstr(
          R"("parameters":null,"flops":null,"bytes":null,"memory_bytes":null,"failure":"too, large")"));
  EXPECT_THAT(json, Not(HasSubstr("energy_j")));
  EXPECT_THAT(Write(sweep, Format::kCsv, {}),
              EndsWith("tiny,2,int8,,,,,,,,,,,,,,\"too, large\",beryl.sweep/2,\n"));
}

}  // namespace
}  // namespace beryl::views
