#include "flows/list_models.h"

#include <gtest/gtest.h>

namespace beryl::flows {
namespace {

TEST(ListModels, FindsFamiliesPartsOfNamesAndPatterns) {
  const auto all = ListModels("");
  const auto family = ListModels("BERT");
  const auto part = ListModels("bert-base");
  const auto pattern = ListModels("google/*");
  ASSERT_TRUE(all && family && part && pattern);
  EXPECT_GT(all->rows.size(), part->rows.size());
  for (const auto& row : family->rows) EXPECT_EQ(row.family, "bert") << row.name;
  for (const auto& row : part->rows) EXPECT_NE(row.name.find("bert-base"), std::string::npos);
  for (const auto& row : pattern->rows) EXPECT_TRUE(row.name.starts_with("google/")) << row.name;
  EXPECT_FALSE(ListModels("no such model"));
}

}  // namespace
}  // namespace beryl::flows
