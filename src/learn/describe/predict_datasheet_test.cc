#include "learn/describe/predict_datasheet.h"

#include <cmath>
#include <numeric>
#include <random>

#include "base/matchers_for_test.h"
#include "learn/describe/note_memory.h"
#include "learn/methods/datasheet.h"
#include "types/dataset.h"
#include "types/note_testing.h"

namespace beryl::learn {
namespace {

// A model, a module in it, and math operations in that, each in a primitive of its own.
Description Describe(const std::vector<DescribedNode>& operations, Dtype dtype = Dtype::kFloat16) {
  Description description;
  description.dtype = dtype;
  auto add = [&](NodeId parent, uint16_t depth, Level level, const DescribedNode& node) {
    TreeNode& of = description.tree.nodes.emplace_back();
    of.parent = parent;
    of.depth = depth;
    of.level = level;
    description.nodes.push_back(node);
    return static_cast<NodeId>(description.tree.nodes.size() - 1);
  };
  add(0, 0, Level::kModel, {});
  const NodeId module = add(0, 1, Level::kModule, {});
  for (const DescribedNode& operation : operations) {
    DescribedNode primitive;
    primitive.phase = operation.phase;
    primitive.scope = operation.scope;
    primitive.parameters = operation.parameters;
    const NodeId at = add(module, 2, Level::kMl, primitive);
    add(at, 3, Level::kMath, operation);
  }
  auto& nodes = description.tree.nodes;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    nodes[i].end = nodes[i].level == Level::kMath ? i + 1
                   : nodes[i].level == Level::kMl ? i + 2
                                                  : static_cast<NodeId>(nodes.size());
  }
  for (NodeId i = static_cast<NodeId>(nodes.size()); i-- > 1;) {
    DescribedNode& parent = description.nodes[nodes[i].parent];
    parent.work += description.nodes[i].work;
    if (nodes[i].level != Level::kMath) parent.parameters += description.nodes[i].parameters;
  }
  return description;
}

DescribedNode Operation(MathKind kind, const Work& work, double runs = 1) {
  DescribedNode node;
  node.kind = kind;
  node.work = work;
  node.runs = runs;
  return node;
}

// [m, k] x [k, n] in float16.
DescribedNode Product(double m, double k, double n, double runs = 1) {
  Work work;
  work.flops = work.matmul_flops = 2 * m * k * n;
  work.bytes_read = 2 * (m * k + k * n);
  work.bytes_written = 2 * m * n;
  return Operation(MathKind::kMatmul, work * runs, runs);
}

DescribedPrediction Predict(const Datasheet& sheet, const Description& description) {
  DescribedPrediction out;
  PredictByDatasheet(sheet, description, out);
  return out;
}

Datasheet A100() { return *FindDatasheet("a100-80gb-sxm"); }

TEST(PredictDatasheet, LargeProductsGoAtTheirShareOfThePeakAndDrawMostOfTheBoard) {
  const auto prediction = Predict(A100(), Describe({Product(8192, 8192, 8192)}));
  const double flops = 2.0 * 8192 * 8192 * 8192;
  EXPECT_NEAR(flops / prediction.seconds[0] / 312e12, 0.65, 0.01);
  const double watts = prediction.energy.total[0] / prediction.seconds[0];
  EXPECT_GT(watts, 0.8 * 400);
  EXPECT_LE(watts, 400);
}

TEST(PredictDatasheet, SmallProductsAreFarFromThePeak) {
  const Datasheet sheet = A100();
  double before = 0;
  for (const double side : {64.0, 256.0, 1024.0, 4096.0, 16384.0}) {
    const auto prediction = Predict(sheet, Describe({Product(side, side, side)}));
    const double share = 2 * side * side * side / prediction.seconds[0] / 312e12;
    EXPECT_GT(share, before);
    before = share;
  }
  EXPECT_LT(before, 0.65);
}

TEST(PredictDatasheet, CopiesGoAtTheMemorysPace) {
  Work work;
  work.bytes_read = work.bytes_written = 4e9;
  const auto prediction = Predict(A100(), Describe({Operation(MathKind::kCopy, work)}));
  EXPECT_NEAR(prediction.seconds[0], 8e9 / (0.8 * 2039e9), 6e-6);
  const double watts = prediction.energy.total[0] / prediction.seconds[0];
  EXPECT_GT(watts, 0.5 * 400);
  EXPECT_LT(watts, 0.75 * 400);
}

TEST(PredictDatasheet, TinyWorkIsAllLaunchAndItsIntervalIsWider) {
  Work work;
  work.flops = 10;
  work.bytes_read = 40;
  work.bytes_written = 40;
  const Description tiny = Describe({Operation(MathKind::kElementwise, work * 1000, 1000)});
  const auto prediction = Predict(A100(), tiny);
  EXPECT_NEAR(prediction.seconds[0], 5e-3, 1e-5);
  EXPECT_LT(prediction.energy.total[0] / prediction.seconds[0], 130);
  const auto large = Predict(A100(), Describe({Product(8192, 8192, 8192)}));
  const auto width = [](const DescribedPrediction& of) {
    return of.energy.high[0] / of.energy.low[0];
  };
  EXPECT_NEAR(std::sqrt(width(large)), 2, 0.01);
  EXPECT_NEAR(std::sqrt(width(prediction)), 3, 0.01);
  EXPECT_THAT(Plain(prediction.notes), Contains(HasSubstr("mostly_starting share=")));
  EXPECT_THAT(Plain(large.notes), Each(Not(HasSubstr("mostly_starting"))));
}

TEST(PredictDatasheet, SplitWorkIsSharedAndReplicatedWorkIsDoneByEach) {
  const Datasheet sheet = A100();
  const auto alone = Predict(sheet, Describe({Product(4096, 4096, 4096)}));
  Description split = Describe({Product(4096, 4096, 4096)});
  split.input.gpus = 4;
  const auto shared = Predict(sheet, split);
  EXPECT_LT(shared.seconds[0], alone.seconds[0] / 3);
  EXPECT_GT(shared.energy.total[0], alone.energy.total[0]);
  EXPECT_LT(shared.energy.total[0], 1.5 * alone.energy.total[0]);
  // Work is counted over all GPUs: what each of four does is four times as much.
  DescribedNode each = Product(4096, 4096, 4096);
  each.work = each.work * 4;
  Description replicated = Describe({each});
  replicated.input.gpus = 4;
  const auto copied = Predict(sheet, replicated);
  EXPECT_NEAR(copied.seconds[0], alone.seconds[0], 1e-9 * alone.seconds[0]);
  EXPECT_NEAR(copied.energy.total[0], 4 * alone.energy.total[0], 1e-9 * copied.energy.total[0]);
  EXPECT_THAT(Plain(copied.notes), Contains("device_alone GPU gpus=4"));
}

TEST(PredictDatasheet, WhatIsSentGoesAtTheLinksPaceOrTheHosts) {
  Work work;
  work.bytes_sent = 2 * 21e9;
  Description description = Describe({Operation(MathKind::kSend, work)});
  description.input.gpus = 2;
  Datasheet sheet = A100();
  EXPECT_NEAR(Predict(sheet, description).seconds[0], 21e9 / (0.7 * 300e9), 1e-3);
  sheet.link_bandwidth = 0;
  EXPECT_NEAR(Predict(sheet, description).seconds[0], 21e9 / (0.7 * 12e9), 1e-3);
}

TEST(PredictDatasheet, PartsAddUpToTheWhole) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(0, 12);
  for (int round = 0; round < 20; ++round) {
    std::vector<DescribedNode> operations;
    for (size_t i = 0; i < 30; ++i) {
      Work work;
      work.matmul_flops = i % 2 == 0 ? std::pow(10, exponent(random)) : 0;
      work.flops = work.matmul_flops + std::pow(10, exponent(random));
      work.bytes_read = std::pow(10, exponent(random));
      work.bytes_written = std::pow(10, exponent(random));
      operations.push_back(
          Operation(static_cast<MathKind>(i % static_cast<size_t>(MathKind::kView)), work,
                    1 + static_cast<double>(i % 5)));
    }
    const Description description = Describe(operations);
    for (const std::string& name : DatasheetNames()) {
      const Datasheet sheet = *FindDatasheet(name);
      const auto prediction = Predict(sheet, description);
      const Column& energy = prediction.energy;
      const double parts = std::accumulate(energy.self.begin(), energy.self.end(), 0.0);
      EXPECT_NEAR(parts, energy.total[0], 1e-12 * parts);
      EXPECT_EQ(energy.total[0], energy.total[1]);
      for (size_t node = 0; node < energy.total.size(); ++node) {
        EXPECT_TRUE(description.nodes[node].kind || energy.self[node] == 0);
        EXPECT_LE(energy.low[node], energy.total[node]);
        EXPECT_GE(energy.high[node], energy.total[node]);
        // Never less than idle, never more than the board.
        const double watts = energy.total[node] / prediction.seconds[node];
        EXPECT_GE(watts, sheet.idle_power.value * (1 - 1e-9)) << name;
        EXPECT_LE(watts, sheet.board_power.value * (1 + 1e-9)) << name;
      }
    }
  }
}

TEST(PredictDatasheet, MoreWorkTakesNoLessTimeAndEnergy) {
  for (const std::string& name : DatasheetNames()) {
    const Datasheet sheet = *FindDatasheet(name);
    double seconds = 0;
    double joules = 0;
    for (double m = 1; m <= 65536; m *= 2) {
      const auto prediction = Predict(sheet, Describe({Product(m, 1024, 1024)}));
      EXPECT_GE(prediction.seconds[0], seconds) << name;
      EXPECT_GE(prediction.energy.total[0], joules) << name;
      seconds = prediction.seconds[0];
      joules = prediction.energy.total[0];
    }
  }
}

TEST(PredictDatasheet, WhatDoesNothingTakesNothing) {
  const auto prediction = Predict(A100(), Describe({Operation(MathKind::kCopy, {}, 0)}));
  EXPECT_EQ(prediction.energy.total[0], 0);
  EXPECT_EQ(prediction.seconds[0], 0);
  EXPECT_EQ(prediction.energy.low[0], 0);
  EXPECT_EQ(prediction.energy.high[0], 0);
}

TEST(PredictDatasheet, TypesThatADeviceLacksFallBack) {
  Datasheet sheet = *FindDatasheet("v100-sxm2-32gb");
  EXPECT_EQ(MatmulRate(sheet, Dtype::kFloat16), 125e12);
  EXPECT_EQ(MatmulRate(sheet, Dtype::kBfloat16), 15.7e12);
  EXPECT_EQ(MatmulRate(sheet, Dtype::kInt4), 125e12);
  const auto bfloat16 = Predict(sheet, Describe({Product(64, 64, 64)}, Dtype::kBfloat16));
  EXPECT_THAT(Plain(bfloat16.notes), Contains("no_faster_units bfloat16 rate=float32"));
  const auto int8 = Predict(sheet, Describe({Product(64, 64, 64)}, Dtype::kInt8));
  EXPECT_THAT(Plain(int8.notes), Contains("products_widened int8 rate=float16"));
  const auto float16 = Predict(sheet, Describe({Product(64, 64, 64)}, Dtype::kFloat16));
  EXPECT_THAT(Plain(float16.notes), Each(Not(HasSubstr("rate="))));
  sheet.matmul_flops[static_cast<size_t>(Dtype::kInt8)] = 500e12;
  EXPECT_EQ(MatmulRate(sheet, Dtype::kInt8), 500e12);
  EXPECT_EQ(MatmulRate(*FindDatasheet("gtx-1080-ti"), Dtype::kInt8), 11.34e12);
}

TEST(PredictDatasheet, ItSaysThatItIsUncalibratedAndOfWhat) {
  const auto prediction = Predict(A100(), Describe({Product(64, 64, 64)}, Dtype::kFloat32));
  EXPECT_FALSE(prediction.calibrated);
  EXPECT_EQ(prediction.nominal, 0.9);
  EXPECT_EQ(prediction.machine, "NVIDIA A100 80GB SXM");
  EXPECT_EQ(prediction.energy.label, "predicted");
  EXPECT_EQ(prediction.energy.origin, Origin::kUncalibrated);
  EXPECT_THAT(Plain(prediction.notes),
              Contains(HasSubstr("uncalibrated NVIDIA A100 80GB SXM factor=")));
  EXPECT_THAT(Plain(prediction.notes), Contains("device_alone GPU"));
  EXPECT_THAT(Plain(prediction.notes), Contains("without_tf32"));
  EXPECT_THAT(Plain(Predict(*FindDatasheet("epyc-7763"), Describe({Product(64, 64, 64)})).notes),
              Contains("device_alone processor"));
}

// Llama 2 7B, a token at batch 1: all weights are read once. 9.5 ms are measured where the program
// is compiled (gpt-fast), 39 ms where it is not; of a product alone it is what memory allows.
TEST(PredictDatasheet, ATokenOfASevenBillionModelOnAnA100) {
  DescribedNode weights = Product(1, 4096, 4096, 32);
  weights.work = Work{2 * 6.74e9, 2 * 6.74e9, 2 * 6.74e9, 0, 0};
  std::vector<DescribedNode> operations = {weights};
  Work small;
  small.bytes_read = small.bytes_written = 8192;
  operations.push_back(Operation(MathKind::kElementwise, small * 1300, 1300));
  const auto prediction = Predict(A100(), Describe(operations));
  EXPECT_GT(prediction.seconds[0], 9.5e-3);
  EXPECT_LT(prediction.seconds[0], 39e-3);
  EXPECT_NEAR(prediction.seconds[0], 15e-3, 2e-3);
}

TEST(MemoryNeed, WeightsAreAsWideAsTheirType) {
  DescribedNode product = Product(1, 1000, 1000);
  product.parameters = 1'000'000;
  DescribedNode table = Operation(MathKind::kGather, {});
  table.parameters = 500'000;
  EXPECT_EQ(MemoryNeedOf(Describe({product, table}, Dtype::kFloat32)).weights, 6e6);
  EXPECT_EQ(MemoryNeedOf(Describe({product, table}, Dtype::kBfloat16)).weights, 3e6);
  // Tables stay at 16 bits.
  EXPECT_EQ(MemoryNeedOf(Describe({product, table}, Dtype::kInt8)).weights, 2e6);
  EXPECT_EQ(MemoryNeedOf(Describe({product, table}, Dtype::kInt4)).weights, 1.5e6);
}

TEST(MemoryNeed, SaysHowManyGpusWouldDo) {
  DescribedNode product = Product(1, 1000, 1000);
  product.parameters = 70'000'000'000;
  Description description = Describe({product});
  const auto say = [&](const Datasheet& sheet) {
    std::vector<Note> notes;
    description.memory = MemoryNeedOf(description);
    NoteMemory(sheet.memory, sheet.gpu, description, notes);
    return Plain(notes);
  };
  EXPECT_THAT(
      say(A100()),
      ElementsAre(
          "does_not_fit weights_gb=140 memory_gb=80 gpus=1 enough_gpus=2 activations_gb=2e-06"));
  description.input.gpus = 2;
  EXPECT_THAT(say(A100()),
              ElementsAre("fits weights_gb=140 memory_gb=160 gpus=2 activations_gb=2e-06"));
  description.input.gpus = 1;
  Datasheet small = *FindDatasheet("ryzen-9-7950x");
  EXPECT_THAT(say(small),
              ElementsAre("does_not_fit weights_gb=140 memory_gb=128 activations_gb=2e-06"));
  small.memory = kUnknown;
  EXPECT_THAT(say(small), IsEmpty());
}

TEST(MemoryNeed, KeysAndValuesOfAllTokensAreKept) {
  DescribedNode keys = Product(1, 4096, 1024);
  keys.scope = "layers.0.self_attn.k_proj";
  Description description = Describe({keys});
  DescribedNode& primitive = description.nodes[2];
  description.shapes = {{{1, 1, 4096}, 3}, {{1, 1, 1024}, 3}};
  primitive.first_shape = 0;
  primitive.input_count = 1;
  primitive.output_count = 1;
  description.input.batch = 3;
  description.input.context = 100;
  description.input.seq = 1;
  EXPECT_EQ(MemoryNeedOf(description).cache, 3. * 101 * 1024 * 2);
  description.input.context = 0;
  EXPECT_EQ(MemoryNeedOf(description).cache, 0) << "one pass keeps none";
  // Without names, by what attention reads.
  Description unnamed = Describe({Operation(MathKind::kBatchedMatmul, {})});
  unnamed.shapes = {{{1, 12, 1, 64}, 4}, {{1, 12, 101, 64}, 4}, {{1, 12, 1, 101}, 4}};
  unnamed.nodes[3].input_count = 2;
  unnamed.nodes[3].output_count = 1;
  unnamed.input.context = 100;
  EXPECT_EQ(MemoryNeedOf(unnamed).cache, 12. * 101 * 64 * 2);
}

}  // namespace
}  // namespace beryl::learn
