#include "flows/model_request.h"

#include "base/matchers_for_test.h"
#include "flows/find_model.h"

namespace beryl::flows {
namespace {

TEST(DescribeOptionsOf, TakesSizesAndChangedKeys) {
  ModelRequest request;
  request.batch = 8;
  request.prompt = 512;
  request.dtype = "float16";
  request.set = {"num_hidden_layers=6", "name=a=b"};
  const auto options = DescribeOptionsOf(request);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->input.batch, 8);
  EXPECT_EQ(options->input.prompt, 512);
  EXPECT_EQ(options->input.generate, 0);
  EXPECT_EQ(options->dtype, *ParseDtype("float16"));
  ASSERT_EQ(options->set.size(), 2U);
  EXPECT_EQ(options->set[1].second, "a=b");
  EXPECT_TRUE(GivenBy(request).batch);
  EXPECT_FALSE(GivenBy(request).seq);
  EXPECT_TRUE(GivenBy(request).input);
  EXPECT_TRUE(GivenBy(request).dtype);
  EXPECT_FALSE(GivenBy({}).dtype);
  EXPECT_FALSE(DescribeOptionsOf({})->dtype) << "the configuration's";
}

TEST(DescribeOptionsOf, AttentionIsTheLibrarysUnlessAProfileWasMeasuredOtherwise) {
  const ModelRequest request;
  EXPECT_EQ(DescribeOptionsOf(request)->attention, AttentionKind::kSdpa);
  EXPECT_EQ(DescribeOptionsOf(request)->attention_of, "");
  const auto measured = ReadProfile("gtx1080ti-i9-7900x");
  ASSERT_TRUE(measured);
  EXPECT_EQ(DescribeOptionsOf(request, &*measured)->attention, AttentionKind::kEager);
  EXPECT_EQ(DescribeOptionsOf(request, &*measured)->attention_of, "gtx1080ti-i9-7900x");
  const auto sheet = ReadProfile("a100");
  ASSERT_TRUE(sheet);
  EXPECT_EQ(DescribeOptionsOf(request, &*sheet)->attention, AttentionKind::kSdpa);
  ModelRequest flash;
  flash.attention = "flash";
  EXPECT_EQ(DescribeOptionsOf(flash, &*measured)->attention, AttentionKind::kFlash);
}

TEST(DescribeOptionsOf, TheRestIsTheConfigurations) {
  ModelRequest request;
  const auto options = DescribeOptionsOf(request);
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->dtype);
  EXPECT_EQ(options->head, models::HeadChoice::kUsual);
  EXPECT_FALSE(options->training);
  request.no_head = true;
  request.training = true;
  request.optimizer = "sgd";
  request.checkpointing = true;
  const auto trained = DescribeOptionsOf(request);
  ASSERT_TRUE(trained && trained->training);
  EXPECT_EQ(trained->head, models::HeadChoice::kNone);
  EXPECT_EQ(trained->training->optimizer, OptimizerKind::kSgd);
  EXPECT_TRUE(trained->training->checkpointing);
}

TEST(DescribeOptionsOf, RefusesWhatNoModelTakes) {
  ModelRequest half;
  half.batch = 1.5;
  ASSERT_FALSE(DescribeOptionsOf(half));
  EXPECT_THAT(DescribeOptionsOf(half).error().message, HasSubstr("batch size 1.5"));
  ModelRequest pair;
  pair.set = {"=6"};
  EXPECT_FALSE(DescribeOptionsOf(pair));
}

TEST(GiveModel, NeedsAModelForItsSizes) {
  AccountedRun run;
  EXPECT_TRUE(GiveModel(ModelRequest{}, run));
  EXPECT_FALSE(run.model);
  ModelRequest sized;
  sized.seq = 128;
  EXPECT_FALSE(GiveModel(sized, run));
}

}  // namespace
}  // namespace beryl::flows
