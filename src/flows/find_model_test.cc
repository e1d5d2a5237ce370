#include "flows/find_model.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

class FindModelTest : public testing::Test, protected FolderForTest {};

TEST_F(FindModelTest, AConfigurationIsAFileAFolderOrAName) {
  const std::string file = Write("model/config.json", R"({"model_type": "bert"})");
  for (const std::string& given : {file, (folder_ / "model").string()}) {
    const auto config = ReadConfig(given);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->text, R"({"model_type": "bert"})");
  }
  EXPECT_TRUE(ReadConfig("gpt2"));
  EXPECT_FALSE(ReadConfig("no-such-model-anywhere"));
}

TEST_F(FindModelTest, AFolderOfResultsMayHaveTheNameOfAModel) {
  EnterFolder();
  Write("gpt2/result.json", "{}");
  EXPECT_TRUE(ReadConfig("gpt2"));
  Write("results/result.json", "{}");
  const auto none = ReadConfig("results");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no config.json"));
}

TEST_F(FindModelTest, AnEmptyConfigurationIsRefused) {
  const auto empty = ReadConfig(Write("config.json", " \n"));
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("the file is empty"));
}

TEST_F(FindModelTest, AProfileIsWrittenAsItIsRead) {
  const auto bundled = ReadProfile("gtx1080ti-i9-7900x");
  ASSERT_TRUE(bundled) << bundled.error().message;
  const auto again = ReadProfile(Write("machine.json", WriteProfile(*bundled)));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->method, bundled->method);
  EXPECT_EQ(WriteProfile(*again), WriteProfile(*bundled));
}

TEST_F(FindModelTest, SimilarNamesOfProfilesAreSuggested) {
  const auto near = ReadProfile("h100-sxn");
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().message, HasSubstr("did you mean 'h100-sxm'"));
  EXPECT_FALSE(ReadProfile(Write("wrong.json", "{}")));
}

}  // namespace
}  // namespace beryl::flows
