#include "flows/near_names.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

const std::vector<std::string> kKnown = {"bert-base", "bert-large", "gpt2", "llama", "opt"};

TEST(NearNames, SuggestsWhatIsAFewLettersAwayAndTheNearestFirst) {
  EXPECT_EQ(NearNames("bert-bas", kKnown), "; did you mean 'bert-base'?");
  EXPECT_EQ(NearNames("lama", kKnown), "; did you mean 'llama'?");
}

TEST(NearNames, SuggestsNamesThatContainTheWord) {
  EXPECT_EQ(NearNames("bert", kKnown), "; did you mean 'bert-base', 'bert-large'?");
}

TEST(NearNames, ListsAllOfAFewIfNoneIsNear) {
  EXPECT_EQ(NearNames("x", {"a", "b"}), "; there are a, b");
  EXPECT_EQ(NearNames("x", {}), "");
  EXPECT_EQ(NearNames("x", std::vector<std::string>(100, "name")), "");
}

TEST(NearNames, AShortWordIsNotNearEverything) {
  EXPECT_THAT(NearNames("abc", kKnown), StartsWith("; there are"));
}

}  // namespace
}  // namespace beryl::flows
