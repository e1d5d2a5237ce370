#include "flows/run_data.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"
#include "flows/run_files.h"
#include "flows/save_run.h"

namespace beryl::flows {
namespace {

class RunDataTest : public testing::Test, protected FolderForTest {
 protected:
  // A run file of a trace.
  std::string Import(const std::string& name) {
    const std::string path = (folder_ / name).string();
    auto file = GrowingFile::Open(path);
    const std::string golden = "tests/golden/tensorflow-two-steps/";
    EXPECT_TRUE(SaveRun({{}, {golden + "ops.json"}, {golden + "power.csv"}}, {}, *file));
    return path;
  }
};

TEST_F(RunDataTest, KnowsRunFilesByTheirContent) {
  const std::string run = Import("a.beryl");
  const std::string other = Write("b.beryl", "no run");
  EXPECT_TRUE(IsRunFile(run));
  EXPECT_FALSE(IsRunFile(other));
  EXPECT_FALSE(IsRunFile(folder_.string()));
  EXPECT_FALSE(IsRunFile((folder_ / "none.beryl").string()));
  EXPECT_TRUE(IsRunData(run));
  EXPECT_TRUE(IsRunData(folder_.string()));
  EXPECT_FALSE(IsRunData("tests/golden/tensorflow-two-steps"));
}

TEST_F(RunDataTest, EveryRunIsAModelNamedAfterItsFile) {
  Import("second.beryl");
  Import("first.beryl");
  Write("notes.txt", "not read");
  const auto data = ReadRunData(folder_.string());
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->runs.size(), 2U);
  EXPECT_EQ(data->runs[0].model, "first");
  EXPECT_EQ(data->runs[1].model, "second");
  EXPECT_GT(data->runs[0].tree.size(), 1U);
  ASSERT_FALSE(data->notes.empty());
  EXPECT_EQ(data->notes[0].kind, NoteKind::kRunWithoutWallMeter);
  EXPECT_EQ(data->notes[0].count, 2U) << "counted, and said once";
}

TEST_F(RunDataTest, AModelIsOfARunThatIsThere) {
  Import("a.beryl");
  const auto missing = ReadRunData(folder_.string(), {{"b", "gpt2"}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("has no run b.beryl"));
  const auto wrong = ReadRunData(folder_.string(), {{"", "gpt2"}});
  ASSERT_FALSE(wrong) << "the trace is of another model";
}

TEST(ParseModelsOfRuns, TakesOneForEachRunAndOneForAll) {
  const auto models = ParseModelsOfRuns({"gpt2", "run=config.json", "odd=a=b"});
  ASSERT_TRUE(models);
  EXPECT_THAT(*models,
              ElementsAre(Pair("", "gpt2"), Pair("odd", "a=b"), Pair("run", "config.json")));
  EXPECT_FALSE(ParseModelsOfRuns({"gpt2", "bert-base-uncased"}));
  EXPECT_FALSE(ParseModelsOfRuns({"run=gpt2", "run=gpt2"}));
}

}  // namespace
}  // namespace beryl::flows
