// The figures that the method describe is held to, on the published data, where that is.
#include "cli/described_data.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "learn/learn.h"

namespace beryl::cli {
namespace {

TEST(DescribedData, LeavingOutOneModelAtATime) {
  const char* given = std::getenv("BERYL_IRENE_DATA");
  const std::string folder =
      std::string(given != nullptr ? given : "../shared/data/irene") + "/device_1";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "needs IrEne's data at ../shared/data/irene or in BERYL_IRENE_DATA";
  }
  auto data = learn::ReadDataset(folder, {});
  ASSERT_TRUE(data);
  DescribeRuns(*data);
  for (const ModelRun& run : data->runs) ASSERT_NE(run.description, nullptr) << run.model;
  learn::TrainOptions options;
  options.method = Method::kDescribe;
  const auto evaluation = learn::Evaluate(*data, nullptr, options, 1);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  const std::array<double, 3> most = {1.0, 2.0, 1.5};  // ml, module, model
  for (size_t level = 0; level < most.size(); ++level) {
    const LevelErrors& errors = evaluation->levels[level];
    EXPECT_LE(errors.mape_models, most[level]);
    EXPECT_EQ(errors.unpredicted, 0u);
    EXPECT_NEAR(errors.coverage, 0.9, 0.03);
  }
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
  EXPECT_EQ(data.findings.size(), 2u);
}

}  // namespace
}  // namespace beryl::cli
