#include "flows/irene_tree.h"

#include "base/folder_for_test.h"
#include "base/matchers_for_test.h"
#include "flows/electricity.h"
#include "flows/predict_model.h"
#include "flows/read_data.h"

namespace beryl::flows {
namespace {

class IreneTreeTest : public ::testing::Test, protected FolderForTest {};

TEST_F(IreneTreeTest, IsReadAgainAsTheSameModules) {
  ModelRequest request;
  request.model = "tests/data/models/tiny-bert.json";
  request.batch = 2;
  request.seq = 4;
  std::vector<Note> notes;
  const auto prediction = PredictModel(request, {}, *ChooseElectricity({}, notes));
  ASSERT_TRUE(prediction) << prediction.error().message;
  const std::string text = WriteIreneTree(*prediction);
  EXPECT_THAT(text, HasSubstr("\"frontend_tree\":{"));
  EXPECT_THAT(text, HasSubstr("\"scope\":\"root.encoder.layer.0.attention.self.query\""));
  const auto read = ReadData(Write("tree.jsonl", text), false);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_THAT(read->runs, SizeIs(1));
  const ModelRun& run = read->runs.front();
  EXPECT_EQ(run.batch_size, 2);
  EXPECT_EQ(run.seq_len, 4);
  const Description& described = prediction->description;
  NodeId node = 0;
  for (NodeId at = 0; at < described.tree.size(); ++at) {
    if (described.tree[at].level > Level::kMl) continue;
    ASSERT_LT(node, run.tree.size());
    EXPECT_EQ(At(run.features[node], Feature::kFlops), described.nodes[at].work.flops);
    EXPECT_EQ(At(run.features[node], Feature::kParameters), described.nodes[at].parameters);
    ++node;
  }
  EXPECT_EQ(node, run.tree.size());
}

}  // namespace
}  // namespace beryl::flows
