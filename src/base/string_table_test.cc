#include "base/string_table.h"

#include <random>
#include <string>
#include <unordered_map>
#include <utility>

#include <gtest/gtest.h>

namespace beryl {
namespace {

TEST(StringTableTest, TheEmptyStringIsZero) {
  StringTable table;
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.Intern(""), 0u);
  EXPECT_EQ(table.Intern(std::string_view()), 0u);
  EXPECT_EQ(table.Text(0), "");
}

TEST(StringTableTest, EqualTextsShareANumberAndOthersDoNot) {
  StringTable table;
  std::unordered_map<std::string, StringId> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    // Few letters, so that texts repeat and differ late.
    for (size_t size = random() % 41; size > 0; --size)
      text += static_cast<char>('a' + random() % 2);
    const StringId id = table.Intern(text);
    const auto [known, is_new] = expected.try_emplace(text, id);
    ASSERT_EQ(known->second, id) << text;
    ASSERT_EQ(table.Text(id), text);
  }
  expected.try_emplace("", 0);
  EXPECT_EQ(table.size(), expected.size());
}

TEST(StringTableTest, EveryLengthIsTakenWhole) {
  StringTable table;
  for (size_t size = 1; size <= 40; ++size) {
    for (size_t changed = 0; changed < size; ++changed) {
      std::string text(size, 'x');
      text[changed] = 'y';
      const size_t before = table.size();
      EXPECT_EQ(table.Intern(text), before) << "a change at " << changed << " was missed";
    }
  }
}

TEST(StringTableTest, HoldsZeroBytesAndLargeTexts) {
  StringTable table;
  const std::string zero(3, '\0');
  const std::string large(200'000, 'x');
  const StringId zero_id = table.Intern(zero);
  const StringId large_id = table.Intern(large);
  EXPECT_NE(table.Intern(std::string(2, '\0')), zero_id);
  EXPECT_EQ(table.Text(zero_id), zero);
  EXPECT_EQ(table.Text(large_id), large);
}

TEST(StringTableTest, ViewsStayValid) {
  StringTable table;
  const std::string_view first = table.Text(table.Intern("the first one"));
  const char* place = first.data();
  for (int i = 0; i < 50'000; ++i) table.Intern("text " + std::to_string(i));
  EXPECT_EQ(table.Text(table.Intern("the first one")).data(), place);
  StringTable moved = std::move(table);
  EXPECT_EQ(moved.Text(moved.Intern("the first one")).data(), place);
  EXPECT_EQ(first, "the first one");
}

}  // namespace
}  // namespace beryl
