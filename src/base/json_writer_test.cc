#include "base/json_writer.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"

namespace beryl {
namespace {

TEST(JsonWriterTest, NestsWithCommas) {
  JsonWriter writer;
  writer.BeginObject().Member("a", 1).Key("b").BeginArray().Value(true).Value("x").BeginObject();
  writer.End().End().Member("c", std::optional<double>()).Member("d", uint64_t{1} << 63).End();
  EXPECT_EQ(writer.Take(), R"({"a":1,"b":[true,"x",{}],"c":null,"d":9223372036854775808})");
}

TEST(JsonWriterTest, Indents) {
  JsonWriter writer(2);
  writer.BeginObject().Member("a", 1).Key("b").BeginArray().End().Key("c").BeginArray().Value(2);
  writer.End().End();
  EXPECT_EQ(writer.Take(), "{\n  \"a\": 1,\n  \"b\": [],\n  \"c\": [\n    2\n  ]\n}");
}

TEST(JsonWriterTest, ANameIsWrittenAsItsText) {
  for (const int indent : {0, 2}) {
    for (const std::string text : {"a", "energy_low_j", "\"odd\" \x01"}) {
      const JsonName name(text);
      JsonWriter writer(indent);
      JsonWriter expected(indent);
      writer.BeginObject().Member(name, 1).Member(name, "x").End();
      expected.BeginObject().Member(text, 1).Member(text, "x").End();
      EXPECT_EQ(writer.Take(), expected.Take());
    }
  }
}

TEST(JsonWriterTest, AnyBytesBecomeAValidString) {
  JsonWriter writer;
  writer.BeginArray().Value("q\" b\\ é \xff \x01 \n").End();
  const std::string text = writer.Take();
  EXPECT_EQ(text, "[\"q\\\" b\\\\ é \\\\xff \\\\x01 \\\\n\"]");
  EXPECT_FALSE(json::FindSyntaxError(text));
}

TEST(JsonWriterTest, EscapesWhereverAByteStands) {
  for (size_t length = 1; length <= 17; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 128; ++byte) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(byte);
        std::string written = JsonWriter().Value(text).Take();
        const bool quoted = byte == '"' || byte == '\\';
        if (quoted) {
          EXPECT_EQ(written[at + 1], '\\');
          written.erase(at + 1, 1);
        }
        EXPECT_EQ(written == '"' + text + '"', byte >= ' ' && byte <= '~') << byte << " at " << at;
      }
    }
  }
}

TEST(JsonWriterTest, WhatIsNoNumberIsNull) {
  JsonWriter writer;
  writer.BeginArray().Value(std::nan("")).Value(std::numeric_limits<double>::infinity()).End();
  EXPECT_EQ(writer.Take(), "[null,null]");
}

TEST(JsonWriterTest, QuantitiesAreNumbers) {
  JsonWriter writer;
  writer.BeginArray().Value(Joules{1.5}).Value(std::optional(Watts{2}));
  writer.Value(std::optional<Seconds>()).End();
  EXPECT_EQ(writer.Take(), "[1.5,2,null]");
}

TEST(JsonWriterTest, DoublesComeBackTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    JsonWriter writer;
    writer.Value(number);
    const std::string text = writer.Take();
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    ASSERT_FALSE(json::FindSyntaxError(text)) << text;
  }
}

TEST(JsonWriterTest, ListsAndPairs) {
  const std::vector<std::vector<int>> matrix = {{1, 2}, {}};
  const std::map<std::string, double> pairs = {{"a", 0.5}, {"b", std::nan("")}};
  JsonWriter writer;
  writer.BeginObject().Member("matrix", matrix).Member("words", std::vector<std::string>{"x"});
  writer.Objects("rows", matrix[0], [&](int item) { writer.Member("item", item); });
  writer.Members("pairs", pairs).Objects("none", matrix[1], [](int) {}).End();
  EXPECT_EQ(writer.Take(), R"({"matrix":[[1,2],[]],"words":["x"],"rows":[{"item":1},{"item":2}],)"
                           R"("pairs":{"a":0.5,"b":null},"none":[]})");
}

}  // namespace
}  // namespace beryl
