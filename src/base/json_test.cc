#include "base/json.h"

#include <string>
#include <vector>

#include "base/matchers_for_test.h"

namespace beryl::json {
namespace {

TEST(FindSyntaxErrorTest, AcceptsJson) {
  for (const char* text : {"{}", "[]", " [1, -2.5e3, true, false, null, \"x\\\"y\"] \n", "5",
                           "\"\"", R"({"a": {"b": [{}, [], ""]}, "c": 1})", "\"\\\\\""}) {
    EXPECT_FALSE(FindSyntaxError(text)) << text;
  }
}

TEST(FindSyntaxErrorTest, SaysWhereAndWhatWasExpected) {
  struct Case {
    const char* text;
    size_t offset;
    bool at_end;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"", 0, true, "a value"},
      {"  ", 2, true, "a value"},
      {"{", 1, true, "a member name in quotes or '}'"},
      {"[", 1, true, "a value or ']'"},
      {"[1", 2, true, "',' or ']'"},
      {"[tru", 4, true, "a value or ']'"},
      {"[trust", 1, false, "a value or ']'"},
      {"[\xff", 1, false, "a value or ']'"},
      {"[1,", 3, true, "a value"},
      {"[1,]", 3, false, "a value"},
      {"[1 2]", 3, false, "',' or ']'"},
      {"[1}", 2, false, "',' or ']'"},
      {"{\"a\"", 4, true, "':' after the member name"},
      {"{\"a\" 1}", 5, false, "':' after the member name"},
      {"{\"a\":", 5, true, "a value"},
      {"{\"a\":}", 5, false, "a value"},
      {"{\"a\":1", 6, true, "',' or '}'"},
      {"{\"a\":1]", 6, false, "',' or '}'"},
      {"{\"a\":1,}", 7, false, "a member name in quotes"},
      {"{\"a\":1,", 7, true, "a member name in quotes"},
      {"{a:1}", 1, false, "a member name in quotes or '}'"},
      {"{\"a", 3, true, "the closing quote of a member name"},
      {"[\"a", 3, true, "the closing quote of a string"},
      {"[\"a\\", 4, true, "the closing quote of a string"},
      {"[\"a\\\"", 5, true, "the closing quote of a string"},
      {"[tru", 4, true, "a value or ']'"},
      {"[tru]", 1, false, "a value or ']'"},
      {"[,]", 1, false, "a value or ']'"},
      {"[12x]", 1, false, "a value or ']'"},
      {"[9.\x01]", 1, false, "a value or ']'"},
      {"1 2", 2, false, "the end of the text"},
      {"{} x", 3, false, "the end of the text"},
      {"]", 0, false, "a value"},
      {"[\x01]", 1, false, "a value or ']'"},
  };
  for (const Case& broken : cases) {
    const auto error = FindSyntaxError(broken.text);
    ASSERT_TRUE(error) << broken.text;
    EXPECT_EQ(error->offset, broken.offset) << broken.text;
    EXPECT_EQ(error->at_end, broken.at_end) << broken.text;
    EXPECT_EQ(error->expected, broken.expected) << broken.text;
  }
}

TEST(FindSyntaxErrorTest, NestingMayBeAsDeepAsTheText) {
  const std::string open(1'000'000, '[');
  const auto error = FindSyntaxError(open);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->offset, open.size());
  EXPECT_TRUE(error->at_end);
  EXPECT_FALSE(FindSyntaxError(open + std::string(open.size(), ']')));
}

TEST(DescribeTest, NamesWhatStandsThere) {
  auto describe = [](std::string_view text) { return Describe(*FindSyntaxError(text), text); };
  EXPECT_EQ(describe("[1 x]"), "expected ',' or ']', found 'x'");
  EXPECT_EQ(describe("[1 \xff]"), "expected ',' or ']', found byte 0xff");
  EXPECT_EQ(describe("[1"), "expected ',' or ']', found the end of the file");
}

TEST(SanitizeTest, ReplacesOnlyWhatIsWrong) {
  std::string text = "ok é 層 🙂\n\t";
  size_t first = 99;
  EXPECT_EQ(Sanitize(text.data(), text.size(), first), 0u);
  EXPECT_EQ(text, "ok é 層 🙂  ");
  text = "a\xff\x01\xc3";
  EXPECT_EQ(Sanitize(text.data(), text.size(), first), 3u);
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(text, "a? ?");
}

TEST(WalkObjectTest, ShowsMembers) {
  std::string text =
      R"({"s":"a\"b\\\u00e9","n": -1.5 ,"i":"42","o":{"x":1},"a":[1,[2,3]],"t":true})";
  std::vector<std::string> seen;
  auto ok = WalkObject(text, "doc", [&](Key key, Value value) {
    if (key == "s") seen.emplace_back(value.String().value_or("none"));
    if (key == "n") seen.emplace_back(value.Token());
    if (key == "i") seen.push_back(std::to_string(value.Integer().value_or(-1)));
    if (key == "o") {
      EXPECT_TRUE(value.IsObject());
      seen.emplace_back(value.Raw(100));
    }
    if (key == "a") {
      EXPECT_TRUE(value.IsArray());
      seen.emplace_back(value.Raw(4));
    }
    if (key == "t") {
      EXPECT_FALSE(value.IsString());
      EXPECT_EQ(value.String(), std::nullopt);
      EXPECT_EQ(value.Integer(), std::nullopt);
    }
  });
  ASSERT_TRUE(ok) << ok.error().message;
  EXPECT_THAT(seen, ElementsAre("a\"b\\é", "-1.5", "42", R"({"x":1})", "[1,["));
}

TEST(WalkObjectTest, KeysAreComparedWhole) {
  std::string text = R"({"abc":1})";
  auto ok = WalkObject(text, "doc", [](Key key, Value) {
    EXPECT_TRUE(key == "abc");
    EXPECT_FALSE(key == "ab");
    EXPECT_FALSE(key == "abcd");
    EXPECT_EQ(key.Text(), "abc");
  });
  EXPECT_TRUE(ok);
}

TEST(WalkObjectTest, ErrorsSayWhere) {
  for (const auto& [broken, message] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a":1 "b":2})", "doc: not valid JSON at byte 7: expected ',' or '}', found '\"'"},
           {R"({"a":1)", "doc: not valid JSON at byte 6: expected ',' or '}', found the end"},
           {"[1]", "doc: expected a JSON object"},
           {"", "doc: not valid JSON at byte 0: expected a value"}}) {
    std::string text = broken;
    auto ok = WalkObject(text, "doc", [](Key, Value) {});
    ASSERT_FALSE(ok) << broken;
    EXPECT_THAT(ok.error().message, HasSubstr(message));
  }
}

TEST(WalkObjectTest, AnyBytesInStringsAreReadable) {
  std::string text = "{\"a\xff\":\"b\x01\"}";
  std::vector<std::string> seen;
  auto ok = WalkObject(text, "doc", [&](Key key, Value value) {
    seen.emplace_back(key.Text());
    seen.emplace_back(value.String().value_or("none"));
  });
  ASSERT_TRUE(ok) << ok.error().message;
  EXPECT_THAT(seen, ElementsAre("a?", "b "));
}

}  // namespace
}  // namespace beryl::json
