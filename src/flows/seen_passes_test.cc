#include "flows/seen_passes.h"

#include <gtest/gtest.h>

namespace beryl::flows {
namespace {

constexpr models::ModelTraits kDecoder{.generates = true};
constexpr models::ModelTraits kEncoder{};
constexpr models::ModelTraits kBoth{.generates = true, .encoder_decoder = true};

// "batch x seq, decoder_seq, prompt + generate, count" of each pass.
std::vector<std::vector<int64_t>> Passes(const models::ModelTraits& traits,
                                         std::vector<tree::SeenInput::Size> sizes,
                                         bool complete = true) {
  tree::SeenInput seen;
  seen.tokens = std::move(sizes);
  const SeenPasses found = PassesOf(traits, seen, {});
  EXPECT_EQ(found.complete, complete);
  std::vector<std::vector<int64_t>> rows;
  for (const auto& [input, count, beams] : found.passes) {
    EXPECT_EQ(beams, 1);
    rows.push_back({input.batch, input.seq, input.decoder_seq, input.prompt, input.generate,
                    static_cast<int64_t>(count)});
  }
  return rows;
}
using Rows = std::vector<std::vector<int64_t>>;

TEST(SeenPasses, BatchesOfSeveralSizesMostFrequentFirst) {
  EXPECT_EQ(Passes(kEncoder, {{3, 17, 1, 5}, {4, 17, 2, 5}}),
            (Rows{{4, 17, 0, 0, 0, 2}, {3, 17, 0, 0, 0, 1}}));
}

TEST(SeenPasses, LikeSizesOfSeveralCallsAreOne) {
  EXPECT_EQ(Passes(kEncoder, {{3, 17, 1, 5}, {4, 1, 1, 5}, {3, 17, 2, 5}}),
            (Rows{{3, 17, 0, 0, 0, 3}, {4, 1, 0, 0, 0, 1}}));
}

TEST(SeenPasses, SingleTokensContinueThePromptBeforeThem) {
  EXPECT_EQ(Passes(kDecoder, {{1, 7, 1, 5}, {1, 1, 4, 5}, {1, 33, 1, 5}, {1, 1, 3, 5}}),
            (Rows{{1, 0, 0, 7, 4, 1}, {1, 0, 0, 33, 3, 1}}));
  // A smaller last batch, and a prompt that nothing follows.
  EXPECT_EQ(Passes(kDecoder, {{4, 7, 1, 5},
                              {4, 1, 5, 5},
                              {4, 7, 1, 5},
                              {4, 1, 5, 5},
                              {3, 7, 1, 5},
                              {3, 1, 2, 5},
                              {2, 9, 2, 5}}),
            (Rows{{4, 0, 0, 7, 5, 2}, {2, 0, 0, 9, 0, 2}, {3, 0, 0, 7, 2, 1}}));
  // Tokens of a prompt before the trace.
  EXPECT_EQ(Passes(kDecoder, {{4, 1, 3, 5}, {2, 7, 1, 5}, {2, 1, 5, 5}}, false),
            (Rows{{2, 0, 0, 7, 5, 1}}));
  // A model that does not generate was given sequences of one token.
  EXPECT_EQ(Passes(kEncoder, {{1, 7, 2, 5}, {1, 1, 1, 5}}),
            (Rows{{1, 7, 0, 0, 0, 2}, {1, 1, 0, 0, 0, 1}}));
}

TEST(SeenPasses, APromptWhoseLastWordAloneIsPredictedIsAGeneration) {
  tree::SeenInput seen;
  seen.tokens = {{2, 7, 1, 5}};
  EXPECT_EQ(PassesOf(kDecoder, seen, {}).passes[0].input.seq, 7);
  seen.only_last_tokens = true;
  EXPECT_EQ(PassesOf(kDecoder, seen, {}).passes[0].input.prompt, 7);
}

TEST(SeenPasses, SingleTokensAloneHaveACache) {
  tree::SeenInput seen;
  seen.tokens = {{1, 1, 4, 5}};
  SeenPasses found = PassesOf(kDecoder, seen, {});
  EXPECT_EQ(found.passes[0].input.seq, 1);
  EXPECT_EQ(found.passes[0].input.context, 0);
  EXPECT_FALSE(found.cache_seen);
  seen.keys = 22.5;
  found = PassesOf(kDecoder, seen, {});
  EXPECT_EQ(found.passes[0].input.context, 22);
  EXPECT_TRUE(found.cache_seen);
}

TEST(SeenPasses, EncoderAndDecoderArePairedInOrder) {
  EXPECT_EQ(Passes(kBoth, {{4, 19, 1, 5},
                           {4, 11, 1, 9},
                           {4, 19, 1, 5},
                           {4, 11, 1, 9},
                           {1, 15, 1, 5},
                           {1, 9, 1, 9}}),
            (Rows{{4, 19, 11, 0, 0, 2}, {1, 15, 9, 0, 0, 1}}));
  // The last new size is the encoder's.
  EXPECT_EQ(Passes(kBoth, {{8, 20, 1, 5}, {8, 10, 1, 9}, {8, 24, 1, 5}, {8, 10, 1, 9}}),
            (Rows{{8, 20, 10, 0, 0, 1}, {8, 24, 10, 0, 0, 1}}));
  // The decoder ran once more than the encoder.
  EXPECT_EQ(Passes(kBoth, {{4, 19, 2, 5}, {4, 11, 3, 9}}, false), (Rows{{4, 19, 11, 0, 0, 2}}));
  // The trace has no modules to tell them apart.
  EXPECT_EQ(Passes(kBoth, {{4, 19, 1, 5}, {4, 11, 1, 5}}), (Rows{{4, 19, 11, 0, 0, 1}}));
}

TEST(SeenPasses, EncoderDecodersGenerateFromAStartToken) {
  EXPECT_EQ(Passes(kBoth, {{2, 13, 1, 5}, {2, 1, 5, 9}}), (Rows{{2, 0, 0, 13, 4, 1}}));
  EXPECT_EQ(Passes(kBoth, {{4, 20, 1, 5}, {4, 1, 8, 9}, {3, 20, 1, 5}, {3, 1, 5, 9}}),
            (Rows{{4, 0, 0, 20, 7, 1}, {3, 0, 0, 20, 4, 1}}));
  // A beam search.
  tree::SeenInput seen;
  seen.tokens = {{2, 13, 1, 5}, {6, 1, 5, 9}};
  const SeenPasses beams = PassesOf(kBoth, seen, {});
  EXPECT_TRUE(beams.complete);
  ASSERT_EQ(beams.passes.size(), 1U);
  EXPECT_EQ(beams.passes[0].input.batch, 2);
  EXPECT_EQ(beams.passes[0].input.generate, 4);
  EXPECT_EQ(beams.passes[0].beams, 3);
}

TEST(SeenPasses, LongListsOfSizesAreCutInText) {
  EXPECT_EQ(SizesText({{4, 17, 2, 5}, {3, 17, 1, 5}}), "4x17 (2 times), 3x17 (1 time)");
  EXPECT_EQ(SizesText({{4, 17, 2, 5}, {3, 17, 1, 5}, {4, 17, 1, 5}}),
            "4x17 (3 times), 3x17 (1 time)");
  std::vector<tree::SeenInput::Size> many;
  for (int64_t batch = 1; batch <= 20; ++batch) many.push_back({batch, 7, 1, 5});
  EXPECT_TRUE(SizesText(many).ends_with(" and 12 more"));
}

}  // namespace
}  // namespace beryl::flows
