#include "flows/list_profiles.h"

#include "base/matchers_for_test.h"
#include "flows/find_model.h"

namespace beryl::flows {
namespace {

std::vector<std::string> Names(const std::string& pattern) {
  std::vector<std::string> names;
  const auto list = ListProfiles(pattern);
  if (!list) return names;
  for (const ProfileList::Row& row : list->rows) names.push_back(row.name);
  return names;
}

TEST(ListProfiles, TheCalibratedOneComesFirst) {
  const auto list = ListProfiles("");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->rows[0].name, "gtx1080ti-i9-7900x");
  EXPECT_TRUE(list->rows[0].calibrated);
  EXPECT_EQ(list->rows[0].measured_with, "float32, eager attention");
  EXPECT_EQ(list->rows[0].memory, 11e9) << "its GPU's";
  for (size_t row = 1; row < list->rows.size(); ++row) {
    EXPECT_FALSE(list->rows[row].calibrated) << list->rows[row].name;
    EXPECT_GT(list->rows[row].matmul_flops, 1e12) << list->rows[row].name;
  }
}

TEST(ListProfiles, ByAPartOfAName) {
  EXPECT_THAT(Names("RTX 4090"), ElementsAre("rtx-4090"));
  EXPECT_THAT(Names("h100"), ElementsAre("h100-sxm", "h100-pcie"));
  EXPECT_THAT(Names("4090"), ElementsAre("rtx-4090"));
  const auto none = ListProfiles("h1000-sxm");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("did you mean 'h100-sxm'"));
}

TEST(ReadProfile, ByItsShortName) {
  for (const auto& [given, name] : {std::pair("a100", "a100-80gb-sxm"),
                                    {"A100", "a100-80gb-sxm"},
                                    {"h100", "h100-sxm"},
                                    {"rtx4090", "rtx-4090"},
                                    {"RTX 4090", "rtx-4090"},
                                    {"t4", "t4"}}) {
    const auto profile = ReadProfile(given);
    ASSERT_TRUE(profile) << given;
    EXPECT_EQ(profile->name, name);
  }
}

TEST(ReadProfile, SuggestsASimilarName) {
  const auto none = ReadProfile("h100-sxn");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("did you mean 'h100-sxm'"));
  EXPECT_THAT(none.error().message, HasSubstr("beryl profiles"));
}

}  // namespace
}  // namespace beryl::flows
