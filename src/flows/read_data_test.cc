#include "flows/read_data.h"

#include "base/matchers_for_test.h"
#include "flows/near_names.h"

namespace beryl::flows {
namespace {

Dataset TwoModels() {
  Dataset data;
  data.name = "measured";
  for (const char* model : {"bert-base", "gpt2"}) {
    for (const double batch : {1.0, 8.0}) {
      ModelRun run;
      run.model = model;
      run.batch_size = batch;
      run.seq_len = 128;
      data.runs.push_back(run);
    }
  }
  return data;
}

TEST(KeepRuns, LeavesTheModelAndTheSize) {
  Dataset data = TwoModels();
  ASSERT_TRUE(KeepRuns(data, "gpt2", 8));
  ASSERT_EQ(data.runs.size(), 1U);
  EXPECT_EQ(data.runs[0].model, "gpt2");
}

TEST(KeepRuns, SaysWhatThereIs) {
  Dataset data = TwoModels();
  const auto model = KeepRuns(data, "gpt3");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("did you mean 'gpt2'?"));
  const auto size = KeepRuns(data, "", 3);
  ASSERT_FALSE(size);
  EXPECT_THAT(size.error().message, HasSubstr("has no run with that batch size"));
}

TEST(ReadData, NamesModelsOfRunFilesOnly) {
  const auto data = ReadData("tests/data/learn/measured_slice.csv.gz", true, {"bert-base-uncased"});
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().code, ErrorCode::kMisuse);
}

TEST(NearNames, ShowsTheNearOnesOrAFew) {
  EXPECT_EQ(NearNames("gpt3", {"gpt2", "llama"}), "; did you mean 'gpt2'?");
  EXPECT_EQ(NearNames("zzzzzz", {"gpt2", "llama"}), "; there are gpt2, llama");
  EXPECT_EQ(NearNames("x", {}), "");
}

}  // namespace
}  // namespace beryl::flows
