// Bounds for the errors of method describe, on the published data if it is there, and on the slice
// of it that comes with the project.
#include "flows/described_data.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "datasets/datasets.h"
#include "learn/evaluate.h"
#include "learn/predict.h"
#include "learn/profiles.h"

namespace beryl::flows {
namespace {

constexpr const char* kMeasuredSlice = "tests/data/learn/measured_slice.csv.gz";
constexpr const char* kNoPublishedData =
    "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";

// The published data; empty: it is not there.
std::string PublishedData() {
  const char* given = std::getenv("BERYL_IRENE_DATA");
  const std::string folder =
      std::string(given != nullptr ? given : "../shared/data/irene") + "/device_1";
  return std::filesystem::exists(folder) ? folder : "";
}

Dataset ReadDescribed(const std::string& path) {
  auto data = datasets::ReadDataset(path, {});
  EXPECT_TRUE(data);
  if (!data) return {};
  DescribeRuns(*data);
  for (const ModelRun& run : data->runs) EXPECT_NE(run.description, nullptr) << run.model;
  return *std::move(data);
}

// `most`: the errors that are allowed, by level: ml, module, model.
void ExpectAccurate(const std::string& path, const std::array<double, 3>& most, double coverage) {
  learn::TrainOptions options;
  options.method = Method::kDescribe;
  const auto evaluation = learn::Evaluate(ReadDescribed(path), nullptr, options, 1);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  for (size_t level = 0; level < most.size(); ++level) {
    const LevelErrors& errors = evaluation->levels[level];
    EXPECT_LE(errors.mape_models, most[level]);
    EXPECT_EQ(errors.unpredicted, 0u);
    EXPECT_NEAR(errors.coverage, 0.9, coverage);
  }
}

TEST(DescribedData, LeavingOutOneModelAtATime) {
  if (PublishedData().empty()) GTEST_SKIP() << kNoPublishedData;
  ExpectAccurate(PublishedData(), {1.0, 2.0, 1.5}, 0.03);
}

// Little more than what it reaches, so that it is noticed on every machine if it gets worse.
TEST(DescribedData, LeavingOutOneModelAtATimeOfTheSlice) {
  ExpectAccurate(kMeasuredSlice, {1.2, 1.55, 1.22}, 0.03);
}

// What was never measured: `most` is the error of whole models that is allowed for each family that
// is left out.
void ExpectFamiliesAccurate(const std::string& path, double most) {
  learn::TrainOptions options;
  options.method = Method::kDescribe;
  Dataset data = ReadDescribed(path);
  NameLineages(data);
  const auto evaluation = learn::Evaluate(data, nullptr, options, 1, FoldBy::kFamily);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  ASSERT_EQ(evaluation->folds, (std::vector<std::string>{"BERT", "GPT"}));
  for (const double error : evaluation->levels[2].by_fold) EXPECT_LT(error, most);
}

TEST(DescribedData, LeavingOutAFamily) {
  if (PublishedData().empty()) GTEST_SKIP() << kNoPublishedData;
  ExpectFamiliesAccurate(PublishedData(), 2.5);
}

// Six sizes say less about another type of primitive than all 28.
TEST(DescribedData, LeavingOutAFamilyOfTheSlice) { ExpectFamiliesAccurate(kMeasuredSlice, 3.5); }

// Trained on all of this data, so this checks the shipped file, not its accuracy on new data.
TEST(DescribedData, TheShippedProfileTellsWhatWasMeasured) {
  const Dataset data = ReadDescribed(kMeasuredSlice);
  const auto shipped = learn::FindProfile("gtx1080ti-i9-7900x");
  ASSERT_TRUE(shipped.has_value());
  const learn::DescriptionPredictor predictor(*shipped);
  double error = 0;
  for (const ModelRun& run : data.runs) {
    const auto predicted = predictor.Predict(*run.description);
    ASSERT_TRUE(predicted) << predicted.error().message;
    error += std::abs(predicted->energy.total[0] / run.measured[0] - 1);
  }
  ASSERT_EQ(data.runs.size(), 36u);
  EXPECT_LE(100 * error / 36, 0.9);
}

TEST(DescribedData, NamesTheLineageOfModelsThatItKnows) {
  Dataset data;
  for (const char* model : {"roberta-base", "distilgpt2", "nobody-knows-it"}) {
    data.runs.emplace_back().model = model;
  }
  // The user's own model; its name says nothing.
  Description own;
  own.family = "mistral";
  data.runs.emplace_back().description = std::make_shared<const Description>(std::move(own));
  NameLineages(data);
  EXPECT_EQ(data.runs[0].lineage, "BERT");
  EXPECT_EQ(data.runs[1].lineage, "GPT");
  EXPECT_EQ(data.runs[2].lineage, "");
  EXPECT_EQ(data.runs[3].lineage, "Llama");
}

TEST(DescribedData, SaysWhatItCannotDescribe) {
  Dataset data;
  for (const char* model : {"bert-base-uncased", "nobody-knows-it"}) {
    ModelRun run;
    run.model = model;
    run.batch_size = 1;
    run.seq_len = 8;
    data.runs.push_back(run);
  }
  data.runs.push_back(data.runs.front());
  data.runs.back().seq_len.reset();
  DescribeRuns(data);
  EXPECT_NE(data.runs[0].description, nullptr);
  EXPECT_EQ(data.runs[1].description, nullptr);
  EXPECT_EQ(data.runs[2].description, nullptr);
  EXPECT_EQ(data.notes.size(), 2u);
}

}  // namespace
}  // namespace beryl::flows
