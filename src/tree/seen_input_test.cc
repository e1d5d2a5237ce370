#include <string>

#include "base/matchers_for_test.h"
#include "tree/seen_shapes.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

TEST(SeenInputTest, ShapesAreReadAsTracesWriteThem) {
  EXPECT_THAT(ReadShapes("[[30522, 256], [8, 64], []]"),
              ElementsAre(ElementsAre(30522, 256), ElementsAre(8, 64), IsEmpty()));
  EXPECT_THAT(ReadShapes("[[[2, 3], [4]], [5]]"), ElementsAre(IsEmpty(), ElementsAre(5)));
  EXPECT_THAT(ReadShapes(""), IsEmpty());
  EXPECT_THAT(ReadShapes("[[99999999999999999999999999"), SizeIs(1));
}

// Operations with shapes, one after the other.
class Calls {
 public:
  uint32_t Add(const std::string& path, const char* type, const std::string& shapes,
               const char* dtype = "", int times = 1) {
    const uint32_t kind = maker.Kind(path);
    OpTrace& trace = maker.trace();
    trace.kinds[kind].type = trace.strings.Intern(type);
    trace.kinds[kind].shapes = trace.strings.Intern(shapes);
    trace.kinds[kind].dtype = trace.strings.Intern(dtype);
    Again(kind, times);
    return kind;
  }
  void LookUp(const std::string& path, const std::string& shapes, int times = 1) {
    Add(path, "aten::embedding", shapes, "", times);
  }
  void Again(uint32_t kind, int times = 1) {
    for (int i = 0; i < times; ++i) {
      Op& op = maker.trace().ops.emplace_back();
      op.kind = kind;
      op.start = Nanos{static_cast<int64_t>(maker.trace().ops.size())};
    }
  }

  TraceMaker maker;
};

TEST(SeenInputTest, TokensAreLookedUpInTheTableOfWords) {
  Calls calls;
  calls.LookUp("m/places/e", "[[512, 8], [1, 5]]");
  calls.LookUp("m/words/prompt", "[[100, 8], [2, 5]]");
  calls.LookUp("m/words/next", "[[100, 8], [2, 1]]", 7);
  const TraceTree built = Build(calls.maker.trace());
  const SeenInput seen = SeeInput(calls.maker.trace(), built, 100);
  ASSERT_THAT(seen.tokens, SizeIs(2));
  EXPECT_EQ(seen.tokens[0].length, 5);
  EXPECT_EQ(seen.tokens[1].count, 7U);
  // Without knowing how many words there are, the largest table is taken for theirs.
  EXPECT_EQ(SeeInput(calls.maker.trace(), built, 0).tokens.front().batch, 1);
  // Another model in the run has its own.
  calls.LookUp("other/words/e", "[[100, 4], [3, 9]]");
  const TraceTree both = Build(calls.maker.trace());
  std::vector<bool> of_other(both.tree.size(), false);
  of_other[*FindPath(both, "other")] = true;
  const SeenInput other = SeeInput(calls.maker.trace(), both, 100, of_other);
  ASSERT_THAT(other.tokens, SizeIs(1));
  EXPECT_EQ(other.tokens[0].length, 9);
}

TEST(SeenInputTest, SizesAreInTheOrderOfCalls) {
  Calls calls;
  const std::string words = "/Words_0<Words>/aten::embedding";
  const uint32_t prompt = calls.Add("M_0<M>" + words, "aten::embedding", "[[9, 8], [2, 5]]");
  calls.LookUp("M_0<M>" + words + "1", "[[9, 8], [2, 1]]", 3);
  calls.Again(prompt);
  // The same module, called from elsewhere.
  calls.LookUp("W_0<W>/M_0<M>" + words, "[[9, 8], [2, 4]]");
  std::vector<int64_t> lengths;
  std::set<NodeId> places;
  for (const SeenInput::Size& size :
       SeeInput(calls.maker.trace(), Build(calls.maker.trace()), 0).tokens) {
    lengths.push_back(size.length);
    places.insert(size.place);
  }
  EXPECT_THAT(lengths, ElementsAre(5, 1, 5, 4));
  EXPECT_THAT(places, SizeIs(1));
}

TEST(SeenInputTest, AConvolutionThatCallsOthersIsOneImage) {
  Calls calls;
  const char* shapes = "[[4, 3, 32, 32], [16, 3, 8, 8], [16]]";
  const uint32_t outer = calls.Add("m/conv2d", "aten::conv2d", shapes, "", 2);
  const uint32_t inner = calls.maker.Below(outer, "convolution", PathKind::kOperation);
  calls.maker.trace().kinds[inner].type = calls.maker.trace().strings.Intern("aten::convolution");
  calls.Again(inner, 2);
  const SeenInput seen = SeeInput(calls.maker.trace(), Build(calls.maker.trace()), 0);
  ASSERT_THAT(seen.images, SizeIs(1));
  EXPECT_EQ(seen.images[0].count, 2U);
}

TEST(SeenInputTest, TheHeadShowsWhichTokensArePredicted) {
  Calls calls;
  calls.LookUp("m/words", "[[100, 8], [2, 5]]");
  calls.Add("m/layer", "aten::linear", "[[2, 5, 8], [8, 8], []]");
  calls.Add("m/head", "aten::linear", "[[2, 1, 8], [100, 8], []]");
  const auto only_last = [&] {
    return SeeInput(calls.maker.trace(), Build(calls.maker.trace()), 100).only_last_tokens;
  };
  EXPECT_TRUE(only_last());
  calls.Add("m/all", "aten::linear", "[[2, 5, 8], [100, 8], []]");
  EXPECT_FALSE(only_last());
}

TEST(SeenInputTest, AttentionShowsTheCacheAndProductsTheType) {
  Calls calls;
  calls.Add("m/sdpa", "aten::scaled_dot_product_attention",
            "[[2, 4, 1, 8], [2, 2, 21, 8], [2, 2, 21, 8], []]");
  calls.Add("m/softmax", "aten::softmax", "[[2, 4, 1, 24], []]");
  calls.Add("m/prompt", "aten::softmax", "[[2, 4, 9, 9], []]");
  calls.Add("m/norm", "aten::mm", "[[4, 4], [4, 4]]", "float");
  calls.Add("m/mm", "aten::mm", "[[4, 4], [4, 4]]", "c10::BFloat16", 2);
  const SeenInput seen = SeeInput(calls.maker.trace(), Build(calls.maker.trace()), 0);
  EXPECT_DOUBLE_EQ(seen.keys.value(), 22.5);
  EXPECT_EQ(seen.dtype, Dtype::kBfloat16);
}

}  // namespace
}  // namespace beryl::tree
