// The figures that the method describe is held to, on the published data, where that is, and on the
// slice of it that comes with the project.
#include "cli/described_data.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "learn/learn.h"

namespace beryl::cli {
namespace {

constexpr const char* kMeasuredSlice = "tests/data/learn/measured_slice.csv.gz";

Dataset ReadDescribed(const std::string& path) {
  auto data = learn::ReadDataset(path, {});
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
  const char* given = std::getenv("BERYL_IRENE_DATA");
  const std::string folder =
      std::string(given != nullptr ? given : "../shared/data/irene") + "/device_1";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";
  }
  ExpectAccurate(folder, {1.0, 2.0, 1.5}, 0.03);
}

// Little more than what it reaches, so that it is noticed on every machine if it gets worse.
TEST(DescribedData, LeavingOutOneModelAtATimeOfTheSlice) {
  ExpectAccurate(kMeasuredSlice, {1.2, 1.52, 1.22}, 0.03);
}

// Trained on all of the data, so it is no news to it: this is about what ships.
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
  data.runs.back().seq_len = 0;
  DescribeRuns(data);
  EXPECT_NE(data.runs[0].description, nullptr);
  EXPECT_EQ(data.runs[1].description, nullptr);
  EXPECT_EQ(data.runs[2].description, nullptr);
  EXPECT_EQ(data.notes.size(), 2u);
}

}  // namespace
}  // namespace beryl::cli
