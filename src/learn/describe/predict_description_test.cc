#include <cmath>

#include "base/matchers_for_test.h"
#include "learn/describe/described_testing.h"
#include "learn/energy_model_file.h"
#include "learn/predict.h"
#include "types/note_testing.h"

namespace beryl::learn {
namespace {

EnergyModel Costs() {
  EnergyModel model;
  model.method = Method::kDescribe;
  model.name = "made-up";
  DescribedModel described;
  for (KindCosts* costs : {&described.energy.alone, &described.energy.within}) {
    for (DeviceCost& cost : costs->device) cost = {1e-6, 4e-11, 1e-9};
    costs->host.fill(2e-3);
  }
  described.energy.group_factors.fill(1);
  described.noise_factors = {1.5, 1.5, 1.5};
  described.seconds = described.energy;
  model.learned = described;
  return model;
}

Result<DescribedPrediction> PredictDescription(const EnergyModel& model, Description description) {
  return DescriptionPredictor(model).Predict(std::move(description));
}

void ExpectParts(const DescribedPrediction& prediction) {
  const auto& nodes = prediction.description.tree.nodes;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    double below = prediction.energy.self[node];
    for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
      below += prediction.energy.total[child];
    }
    EXPECT_NEAR(below, prediction.energy.total[node], 1e-12 + 1e-9 * below);
    EXPECT_GE(prediction.energy.self[node], 0);
    EXPECT_LE(prediction.energy.low[node], prediction.energy.total[node]);
    EXPECT_GE(prediction.energy.high[node], prediction.energy.total[node]);
  }
}

TEST(PredictDescription, PartsAddUpToTheWhole) {
  for (const int64_t rows : {1, 64, 100000}) {
    const auto prediction = PredictDescription(Costs(), TinyDescription(rows, 64));
    ASSERT_TRUE(prediction);
    EXPECT_TRUE(prediction->calibrated);
    EXPECT_GT(prediction->energy.total[0], 0);
    EXPECT_EQ(prediction->seconds.size(), prediction->description.nodes.size());
    ExpectParts(*prediction);
  }
}

TEST(PredictDescription, WidensAndSaysWhatTheProfileHasNeverSeen) {
  Description half = TinyDescription(64, 64);
  half.dtype = Dtype::kFloat16;
  const auto plain = PredictDescription(Costs(), TinyDescription(64, 64));
  const auto narrow = PredictDescription(Costs(), half);
  ASSERT_TRUE(plain);
  ASSERT_TRUE(narrow);
  EXPECT_GT(narrow->energy.high[0] / narrow->energy.total[0],
            plain->energy.high[0] / plain->energy.total[0]);
  EXPECT_THAT(Plain(narrow->notes), Contains(HasSubstr("trained_on_other_dtype")));
  EXPECT_TRUE(narrow->energy.marked[0]);
}

TEST(PredictDescription, AProfileWithoutItIsRefused) {
  EnergyModel law;
  law.name = "only-a-law";
  const auto prediction = PredictDescription(law, TinyDescription(64, 64));
  ASSERT_FALSE(prediction);
  EXPECT_THAT(prediction.error().message, HasSubstr("only-a-law"));
}

TEST(PredictDescription, ItsFileIsReadBack) {
  EnergyModel model = Costs();
  std::get<DescribedModel>(model.learned).energy.corrections[0] = {
      0.3, 0.04, 0.01, {{"Linear", {1, 64, 64, 64}, 0.1, 1e-4}}};
  const std::string text = WriteEnergyModel(model);
  const auto read = ReadEnergyModel(text, "made-up");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(WriteEnergyModel(*read), text);
  const auto before = PredictDescription(model, TinyDescription(64, 64));
  const auto after = PredictDescription(*read, TinyDescription(64, 64));
  EXPECT_EQ(before->energy.total, after->energy.total);
  EXPECT_EQ(before->energy.high, after->energy.high);
}

TEST(PredictDescription, FilesThatCannotBeAreRefusedByMember) {
  const std::string text = WriteEnergyModel(Costs());
  const auto refused = [&](const std::string& from, const std::string& to) -> std::string {
    std::string broken = text;
    const size_t at = broken.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    broken.replace(at, from.size(), to);
    const auto read = ReadEnergyModel(broken, "broken");
    EXPECT_FALSE(read) << to;
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(refused("\"overlap\": 0.5", "\"overlap\": 5"), HasSubstr("described.energy.overlap"));
  EXPECT_THAT(refused("\"matmul\": [", "\"matmul\": [1, "), HasSubstr("three numbers"));
  EXPECT_THAT(refused("\"call\": 0.002", "\"call\": -1"), HasSubstr("host.call"));
}

}  // namespace
}  // namespace beryl::learn
