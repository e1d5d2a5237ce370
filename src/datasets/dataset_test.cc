#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/matchers_for_test.h"
#include "datasets/datasets.h"
#include "datasets/datasets_testing.h"

namespace beryl::datasets {
namespace {

constexpr char kModelRow[] =
    "batch_size,seq_len,flops,mem_bytes,cpu,mem,gpu,gpu_mem,gpu_clk,gpu_mem_clk,times_mean,"
    "gpu_energy_mean,energy_mean,level_name,model_name\n"
    "8,32,1,2,8.5,10,90,17,1900,3802,0.001,0.1,0.2,m,m\n";

class DatasetFolder : public ::testing::Test {
 protected:
  DatasetFolder() {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("beryl_dataset_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DatasetFolder() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST_F(DatasetFolder, WithoutAnyOfTheFilesIsAnErrorThatSaysWhatWasLookedFor) {
  auto data = ReadDataset(folder_.string(), {});
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message, HasSubstr("none of model_level_features.csv"));
}

TEST_F(DatasetFolder, FilesThatAreNotThereAreAFinding) {
  Write("model_level_features.csv", kModelRow);
  auto data = ReadDataset(folder_.string(), {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->name, folder_.string());
  ASSERT_THAT(data->notes, SizeIs(1));
  EXPECT_EQ(data->notes[0].count, 3u);
  EXPECT_EQ(PlainText(data->notes[0]), "file_not_in_folder");
  EXPECT_THAT(data->notes[0].first, HasSubstr("module_level_features.csv"));
}

TEST_F(DatasetFolder, OneFileIsReadByItsName) {
  auto data = ReadDataset(Write("model_level.csv", kModelRow), {});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_THAT(data->runs, SizeIs(1));
  EXPECT_TRUE(data->runs[0].complete);
  EXPECT_THAT(data->runs[0].tree.nodes, SizeIs(1));
}

TEST_F(DatasetFolder, WhatIsNoneOfTheFormatsIsAnError) {
  auto data = ReadDataset(Write("a.bin", std::string("\x7F"
                                                     "ELF\0\1\2",
                                                     7)),
                          {});
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message, HasSubstr("a.bin:1: no column 'model_name'"));
  EXPECT_FALSE(ReadDataset((folder_ / "nowhere").string(), {}));
}

TEST(PublishedTrees, IsReadWhole) {
  if (PublishedData().empty()) GTEST_SKIP() << kNoPublishedData;
  auto data = ReadDataset(PublishedData(), {});
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_THAT(data->runs, SizeIs(167));
  std::array<size_t, 4> by_level = {};
  size_t complete = 0;
  for (const ModelRun& run : data->runs) {
    complete += run.complete ? 1 : 0;
    ASSERT_EQ(run.tree.nodes.size(), run.measured.size());
    ASSERT_EQ(run.tree.nodes.size(), run.features.size());
    ASSERT_EQ(run.tree.nodes[0].end, run.tree.nodes.size());
    for (NodeId i = 0; i < run.tree.nodes.size(); ++i) {
      ++by_level[static_cast<size_t>(run.tree.nodes[i].level)];
      const bool lone_root = !run.complete && i == 0;
      EXPECT_EQ(std::isnan(run.measured[i]), lone_root);
      EXPECT_EQ(std::isnan(At(run.features[i], Feature::kSeconds)), lone_root);
    }
  }
  EXPECT_EQ(complete, 166u);
  EXPECT_EQ(by_level[static_cast<size_t>(Level::kModel)], 167u);
  EXPECT_EQ(by_level[static_cast<size_t>(Level::kModule)], 7208u);
  EXPECT_EQ(by_level[static_cast<size_t>(Level::kMl)], 12255u + 5004u);
  EXPECT_EQ(data->runs[0].model, "bert-base-uncased");
  EXPECT_FALSE(data->runs.back().complete);
  EXPECT_EQ(data->runs.back().model, "openai-gpt");
  EXPECT_THAT(data->runs.back().tree.nodes, SizeIs(37));
  EXPECT_THAT(ModelsOf(*data), SizeIs(6));

  ASSERT_THAT(data->notes, SizeIs(2));
  EXPECT_THAT(PlainText(data->notes[0]), HasSubstr("no_model_row"));
  EXPECT_THAT(PlainText(data->notes[0]), HasSubstr("openai-gpt 32x128, 36 rows"));
  EXPECT_EQ(data->notes[0].count, 1u);
  EXPECT_THAT(data->notes[0].first, HasSubstr("ml2_level_features.csv:"));
  EXPECT_THAT(PlainText(data->notes[1]), HasSubstr("no row for 'h.0.attn'"));
  EXPECT_EQ(data->notes[1].count, 36u);
}

TEST(PublishedTrees, IsTheSameAsTrees) {
  if (PublishedData().empty()) GTEST_SKIP() << kNoPublishedData;
  auto data = ReadDataset(PublishedData(), {});
  ASSERT_TRUE(data) << data.error().message;
  const std::string written = WriteTrees(*data, {});
  auto source = ByteSource::FromMemory(written, "written");
  auto again = ReadTrees(source, {});
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->runs.size() + 1, data->runs.size());  // one has no root: it is no tree
  for (size_t i = 0; i < again->runs.size(); ++i) {
    EXPECT_EQ(again->runs[i].complete, data->runs[i].complete);
    EXPECT_EQ(again->runs[i].tree.nodes.size(), data->runs[i].tree.nodes.size());
  }
  EXPECT_EQ(WriteTrees(*again, {}), written);
}

}  // namespace
}  // namespace beryl::datasets
