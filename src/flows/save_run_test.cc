#include "flows/save_run.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"
#include "flows/demo_run.h"
#include "flows/measure_run.h"
#include "flows/run_data.h"

namespace beryl::flows {
namespace {

const RunFiles kTraces = {
    {},
    {"tests/golden/tensorflow-two-steps/ops.json", "tests/golden/tensorflow-two-steps/ops2.json"},
    {"tests/golden/tensorflow-two-steps/power.csv"}};

// A run file made of the traces.
class SaveRunTest : public testing::Test, protected FolderForTest {
 protected:
  void SetUp() override {
    auto file = GrowingFile::Open(path_);
    ASSERT_TRUE(file);
    const auto saved = SaveRun(kTraces, {}, *file);
    ASSERT_TRUE(saved) << saved.error().message;
    saved_ = *saved;
  }

  const std::string path_ = (folder_ / "save_run_test.beryl").string();
  SavedRun saved_;
};

TEST_F(SaveRunTest, TheFileIsTheSameRun) {
  const auto traces = AccountRunOf(kTraces, {});
  const auto file = AccountRunOf({{path_}, {}, {}}, {});
  ASSERT_TRUE(traces && file);
  const AccountReport before = MakeReport(*traces, {});
  const AccountReport after = MakeReport(*file, {});
  EXPECT_EQ(after.tree.columns.front().total, before.tree.columns.front().total);
  EXPECT_EQ(saved_.operations, traces->input.ops.Glance().All().count);
  EXPECT_EQ(saved_.channels, traces->input.power.channels.size());
  EXPECT_GT(saved_.readings, saved_.channels);
  EXPECT_EQ(SelfSeconds(*file).size(), after.tree.tree.size());
}

TEST_F(SaveRunTest, ItsReadingsCanBeMeasured) {
  const auto run = ReadRunFiles(path_);
  ASSERT_TRUE(run);
  const Measurement measured = MeasureRun(*run, {});
  EXPECT_THAT(measured.devices, SizeIs(saved_.channels));
  EXPECT_THAT(measured.context.run_files, ElementsAre(path_));
  const auto read = ReadMeasurement(path_, {});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->provenance.sources, ElementsAre(path_));
}

TEST_F(SaveRunTest, ItIsTrainingData) {
  const auto data = ReadRunData(path_);
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_THAT(data->runs, SizeIs(1));
  EXPECT_EQ(data->runs[0].model, "save_run_test");
  EXPECT_GT(data->runs[0].measured.front(), 0);
  EXPECT_THAT(data->notes, SizeIs(1)) << "there is no wall meter";
  const auto misnamed = ReadRunData(path_, {{"other", "gpt2"}});
  ASSERT_FALSE(misnamed);
  EXPECT_THAT(misnamed.error().message, HasSubstr("has no run other.beryl"));
}

TEST(AccountDemo, HasATimelineAndAddsUp) {
  const auto report = AccountDemo();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->timeline);
  EXPECT_EQ(report->context.label, "synthetic");
  EXPECT_EQ(report->steps, 3U);
  for (const ChannelAccount& channel : report->channels) {
    EXPECT_LT(channel.ClosureError(), 1e-9);
  };
}

}  // namespace
}  // namespace beryl::flows
