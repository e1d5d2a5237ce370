#include "flows/describe_model.h"

#include "base/matchers_for_test.h"

namespace beryl::flows {
namespace {

TEST(DescribeModel, HasTheModelAtTheRequestedSize) {
  ModelRequest request;
  request.model = "tests/data/models/tiny-bert.json";
  request.batch = 2;
  request.seq = 4;
  const auto small = DescribeModel(request);
  ASSERT_TRUE(small) << small.error().message;
  request.batch = 4;
  const auto large = DescribeModel(request);
  ASSERT_TRUE(large);
  EXPECT_DOUBLE_EQ(large->description.nodes[0].work.flops,
                   2 * small->description.nodes[0].work.flops);
  EXPECT_LT(large->tree.folded.tree.size(), large->tree.whole.tree.size());
  EXPECT_THAT(large->description.provenance.sources, ElementsAre(request.model));
}

TEST(DescribeVariants, AreAloneWhatTheyAreInTheSweep) {
  ModelRequest request;
  request.model = "tests/data/models/tiny-bert.json";
  request.seq = 4;
  request.sweep = {"batch=1,2"};
  const auto sweep = DescribeVariants(request);
  ASSERT_TRUE(sweep) << sweep.error().message;
  ASSERT_THAT(sweep->rows, SizeIs(2));
  EXPECT_TRUE(sweep->profile.empty());
  request.sweep.clear();
  request.batch = 2;
  const auto alone = DescribeModel(request);
  ASSERT_TRUE(alone);
  EXPECT_EQ(sweep->rows[1].prediction.description.nodes[0].work.flops,
            alone->description.nodes[0].work.flops);
}

}  // namespace
}  // namespace beryl::flows
