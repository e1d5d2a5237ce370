#include "models/config.h"

#include "base/matchers_for_test.h"

namespace beryl::models {
namespace {

Config Parsed(const std::string& text) {
  auto config = Config::Parse(text, "test");
  EXPECT_TRUE(config);
  return config ? *config : Config();
}

TEST(ConfigTest, ReadsWhatIsThereAndDefaultsWhatIsNot) {
  Config config = Parsed(
      R"({"hidden_size": 64, "hidden_act": "relu", "bias": true, "unknown": [1, {"a": 2}],
          "rope_parameters": {"partial_rotary_factor": 0.5, "deep": {"x": 1}}, "none": null})");
  EXPECT_EQ(config.Int({"hidden_size"}, 1), 64);
  EXPECT_EQ(config.Int({"missing"}, 7), 7);
  EXPECT_EQ(config.Int({"none"}, 7), 7);
  EXPECT_EQ(config.Text({"hidden_act"}, "gelu"), "relu");
  EXPECT_TRUE(config.Bool({"bias"}, false));
  EXPECT_EQ(config.Number({"rope_parameters.partial_rotary_factor"}, 1), 0.5);
  EXPECT_EQ(config.error(), std::nullopt);
}

TEST(ConfigTest, NullIsNotMissing) {
  Config config = Parsed(R"({"sliding_window": null})");
  EXPECT_EQ(config.MaybeInt({"sliding_window"}, 4096), std::nullopt);
  EXPECT_EQ(config.MaybeInt({"other_window"}, 4096), 4096);
  EXPECT_EQ(config.MaybeNumber({"sliding_window"}, 0.5), std::nullopt);
  EXPECT_EQ(config.MaybeNumber({"other_window"}, 0.5), 0.5);
  EXPECT_EQ(config.Number({"sliding_window"}, 0.5), 0.5);
}

TEST(ConfigTest, CountsTheMembersOfAnObject) {
  const Config config = Parsed(
      R"({"id2label": {"0": "a", "1": "b"}, "id2labels": {"0": "a"}, "none": null, "empty": {}})");
  EXPECT_EQ(config.Members("id2label"), 2);
  EXPECT_EQ(config.Members("none"), 0);
  EXPECT_EQ(config.Members("empty"), 0);
  EXPECT_EQ(config.Members("missing"), 0);
}

TEST(ConfigTest, OtherNamesOfTheSameThing) {
  Config config = Parsed(R"({"n_layer": 3})");
  EXPECT_EQ(config.Int({"n_layer", "num_hidden_layers"}, 12), 3);
  config.Set("num_hidden_layers", "5");
  EXPECT_EQ(config.Int({"n_layer", "num_hidden_layers"}, 12), 5) << "what is set stands above";
  EXPECT_EQ(config.error(), std::nullopt);
}

TEST(ConfigTest, TwoNamesThatContradictEachOtherAreRefused) {
  Config config = Parsed(R"({"n_layer": 3, "num_hidden_layers": 4})");
  config.Int({"n_layer", "num_hidden_layers"}, 12);
  ASSERT_TRUE(config.error());
  EXPECT_THAT(config.error()->message, HasSubstr("'n_layer' = 3: contradicts 'num_hidden_layers'"));
}

TEST(ConfigTest, ValuesThatCannotBeAreRefusedByName) {
  for (const char* value : {"-1", "0", "1.5", "\"many\"", "true", "1e30", "[3]x", "{}"}) {
    auto config = Config::Parse(std::string(R"({"hidden_size": )") + value + "}", "test");
    if (!config) continue;  // not JSON at all
    const int64_t size = config->Int({"hidden_size"}, 768);
    if (std::string(value) == "{}") continue;  // an object has members, not a value
    EXPECT_EQ(size, 768);
    ASSERT_TRUE(config->error()) << value;
    EXPECT_THAT(config->error()->message, HasSubstr("hidden_size"));
  }
}

TEST(ConfigTest, TheFirstErrorStays) {
  Config config = Parsed(R"({"a": -1, "b": -2})");
  config.Int({"a"}, 1);
  config.Int({"b"}, 1);
  EXPECT_THAT(config.error()->message, HasSubstr("'a'"));
}

TEST(ConfigTest, PairsAndLists) {
  Config config =
      Parsed(R"({"one": 16, "two": [24, 40], "three": [1, 2, 3], "types": ["a", "b"]})");
  EXPECT_THAT(config.Pair({"one"}, 1), Pair(16, 16));
  EXPECT_THAT(config.Pair({"two"}, 1), Pair(24, 40));
  EXPECT_THAT(config.Texts({"types"}), ElementsAre("a", "b"));
  EXPECT_EQ(config.error(), std::nullopt);
  config.Pair({"three"}, 1);
  EXPECT_TRUE(config.error());
}

TEST(ConfigTest, KnowsWhatWasSetInVain) {
  Config config = Parsed("{}");
  config.Set("hidden_size", "4");
  config.Set("hiden_size", "4");
  config.Int({"hidden_size"}, 1);
  EXPECT_THAT(config.SetInVain(), ElementsAre("hiden_size"));
}

TEST(ConfigTest, TextThatIsNotJsonIsAnError) {
  EXPECT_FALSE(Config::Parse("", "test"));
  EXPECT_FALSE(Config::Parse("[1]", "test"));
  EXPECT_FALSE(Config::Parse("{\"a\": ", "test"));
}

}  // namespace
}  // namespace beryl::models
