// A step of training against what PyTorch and the library say of it (tools/check_training.py wrote
// it down): matmul FLOPs of both passes, bytes of gradients and of what optimizers remember, and
// what is kept for the backward pass.
#include "models/training.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "base/text.h"
#include "models/models.h"
#include "types/unknown.h"

namespace beryl::models {
namespace {

struct TrainingFact {
  std::string name;
  std::string config;
  std::map<std::string, double> numbers;
};

std::vector<TrainingFact> ReadFacts() {
  std::vector<TrainingFact> facts;
  std::ifstream file("tests/data/models/training_facts.jsonl");
  for (std::string line; std::getline(file, line);) {
    TrainingFact fact;
    const auto walked = json::WalkObject(line, "facts", [&](json::Key key, json::Value value) {
      const std::string name(key.Text());
      if (name == "class") {
        fact.name = *value.String();
      } else if (name == "config") {
        fact.config = value.Raw(1 << 20);
      } else if (const auto number = ParseNumber(value.Token())) {
        fact.numbers[name] = *number;
      }
    });
    if (walked && !fact.name.empty()) facts.push_back(std::move(fact));
  }
  return facts;
}

Description Trained(const TrainingFact& fact, const Training& training,
                    AttentionKind attention = AttentionKind::kEager) {
  DescribeOptions options;
  const auto number = [&](const char* key) {
    const auto at = fact.numbers.find(key);
    return at == fact.numbers.end() ? int64_t{0} : static_cast<int64_t>(at->second);
  };
  options.input = {
      .batch = number("batch"), .seq = number("seq"), .decoder_seq = number("decoder_seq")};
  options.attention = attention;
  options.head = HeadChoice::kUsual;
  options.training = training;
  auto description = Describe({fact.name, fact.config}, options);
  EXPECT_TRUE(description) << fact.name << ": " << description.error().message;
  return description ? *std::move(description) : Description();
}

double FlopsOf(const Description& description, RunPhase phase) {
  for (const NodeId child : Children(description.tree, 0)) {
    if (description.nodes[child].phase == phase) return description.nodes[child].work.matmul_flops;
  }
  return kUnknown;
}

TEST(TrainingFacts, TheClassIsTheOneThatTheLibraryTrains) {
  const std::vector<TrainingFact> facts = ReadFacts();
  ASSERT_GE(facts.size(), 18U);
  for (const TrainingFact& fact : facts) {
    const Description step = Trained(fact, {});
    ASSERT_GT(step.tree.size(), 1U);
    EXPECT_EQ(step.tree.nodes[1].type, fact.name);
  }
}

TEST(TrainingFacts, MatmulFlopsOfBothPasses) {
  for (const TrainingFact& fact : ReadFacts()) {
    const Description step = Trained(fact, {});
    EXPECT_EQ(FlopsOf(step, RunPhase::kForward), fact.numbers.at("forward_flops")) << fact.name;
    EXPECT_EQ(FlopsOf(step, RunPhase::kBackward), fact.numbers.at("backward_flops")) << fact.name;
  }
}

TEST(TrainingFacts, WithGradientCheckpointing) {
  for (const TrainingFact& fact : ReadFacts()) {
    if (!fact.numbers.contains("checkpointed_backward_flops")) continue;
    const Description step = Trained(fact, {OptimizerKind::kAdamw, true});
    EXPECT_EQ(FlopsOf(step, RunPhase::kBackward), fact.numbers.at("checkpointed_backward_flops"))
        << fact.name;
    EXPECT_LT(Trained(fact, {OptimizerKind::kSgd, true}).memory.activations,
              Trained(fact, {OptimizerKind::kSgd, false}).memory.activations)
        << fact.name;
  }
}

TEST(TrainingFacts, BytesOfGradientsAndOptimizers) {
  for (const TrainingFact& fact : ReadFacts()) {
    for (const OptimizerKind optimizer : {OptimizerKind::kSgd, OptimizerKind::kAdam,
                                          OptimizerKind::kAdamw, OptimizerKind::kAdafactor}) {
      const Description step = Trained(fact, {optimizer, false});
      const std::string key = std::string(OptimizerName(optimizer)) + "_bytes";
      EXPECT_EQ(step.memory.optimizer, fact.numbers.at(key)) << fact.name << " " << key;
      EXPECT_EQ(step.memory.gradients, fact.numbers.at("gradient_bytes")) << fact.name;
    }
  }
}

TEST(TrainingFacts, WhatIsKeptForTheBackwardPass) {
  // What exists at once is more than what autograd keeps, by the gradients of the last layer. It is
  // less by the images that a model is given.
  constexpr double kLeast = 0.9;
  constexpr double kMost = 1.16;
  for (const TrainingFact& fact : ReadFacts()) {
    // Plain descent needs no room of its own, which is more than these small models keep.
    const double kept = Trained(fact, {OptimizerKind::kSgd, false}).memory.activations;
    EXPECT_GT(kept / fact.numbers.at("saved_bytes"), kLeast) << fact.name;
    EXPECT_LT(kept / fact.numbers.at("saved_bytes"), kMost) << fact.name;
  }
}

// Scores times their scale, and rotated queries times a table of angles, have no weight to train.
TEST(TrainingFacts, OnlyNormsHaveWeightsBesideProducts) {
  size_t norms = 0;
  for (const TrainingFact& fact : ReadFacts()) {
    const Description step = Trained(fact, {});
    for (NodeId node = 0; node < step.nodes.size(); ++node) {
      const TreeNode& of = step.tree.nodes[node];
      if (of.name != "grad_weight" || step.nodes[node].kind != MathKind::kReduce) continue;
      EXPECT_THAT(step.tree.nodes[of.parent].type, HasSubstr("Norm")) << fact.name;
      ++norms;
    }
  }
  EXPECT_GT(norms, 40U);
}

// --- Laws.

Result<Description> Step(const std::string& name, DescribeOptions options) {
  auto config = FindConfig(name);
  if (!config) return config.error();
  options.head = options.head == HeadChoice::kNone ? HeadChoice::kUsual : options.head;
  if (!options.training) options.training = Training();
  return Describe(*config, options);
}

TEST(TrainingStep, IsATreeOfThreePhases) {
  const auto step = Step("bert-base-uncased", {.input = {.batch = 2, .seq = 16}});
  ASSERT_TRUE(step) << step.error().message;
  std::vector<std::string> phases;
  Work sum;
  for (const NodeId child : Children(step->tree, 0)) {
    phases.push_back(step->tree.nodes[child].name);
    sum += step->nodes[child].work;
  }
  EXPECT_THAT(phases, ElementsAre("forward", "backward", "optimizer"));
  EXPECT_EQ(step->nodes[0].work.flops, sum.flops);
  EXPECT_EQ(step->nodes[0].work.Bytes(), sum.Bytes());
  EXPECT_EQ(step->nodes[0].phase, RunPhase::kAll);
  for (NodeId node = 1; node < step->tree.size(); ++node) {
    const TreeNode& of = step->tree.nodes[node];
    ASSERT_LT(of.parent, node);
    ASSERT_LE(of.end, step->tree.nodes[of.parent].end);
    ASSERT_EQ(of.depth, step->tree.nodes[of.parent].depth + 1);
  }
  for (const Flow& flow : step->flows) {
    ASSERT_LT(flow.from, flow.to) << step->tree.nodes[flow.to].name;
    ASSERT_TRUE(step->nodes[flow.from].kind && step->nodes[flow.to].kind);
  }
  EXPECT_TRUE(std::is_sorted(step->flows.begin(), step->flows.end()));
}

// Each product of activations and weights is two products in the backward pass.
TEST(TrainingStep, TheBackwardPassHasTwiceTheProducts) {
  const auto step = Step("gpt2", {.input = {.batch = 4, .seq = 64}});
  ASSERT_TRUE(step);
  EXPECT_EQ(FlopsOf(*step, RunPhase::kBackward), 2 * FlopsOf(*step, RunPhase::kForward));
}

TEST(TrainingStep, MemoryIsWhatIsKnownOfWellKnownModels) {
  const auto step = Step("gpt2", {.input = {.batch = 8, .seq = 1024}});
  ASSERT_TRUE(step);
  const double weights = 4.0 * static_cast<double>(step->nodes[0].parameters);
  EXPECT_EQ(step->memory.weights, weights);
  EXPECT_EQ(step->memory.gradients, weights);
  EXPECT_EQ(step->memory.optimizer, 2 * weights) << "two moments";
  // Korthikanti et al. (2022): s b h (34 + 5 a s / h) bytes a layer in 16 bits; here in 32 bits,
  // and GPT-2's activation function keeps several results.
  const double layer = 1024.0 * 8 * 768 * (34 + 5.0 * 12 * 1024 / 768) * 2;
  EXPECT_GT(step->memory.activations, 12 * layer * 0.8);
  EXPECT_LT(step->memory.activations, 12 * layer * 2.5);
}

TEST(TrainingStep, FusedAttentionKeepsNoScores) {
  DescribeOptions eager{.input = {.batch = 4, .seq = 512}};
  DescribeOptions fused = eager;
  fused.attention = AttentionKind::kSdpa;
  const auto with = Step("bert-base-uncased", eager);
  const auto without = Step("bert-base-uncased", fused);
  ASSERT_TRUE(with && without);
  const double scores = 4.0 * 12 * 512 * 512 * 4;
  EXPECT_GT(with->memory.activations - without->memory.activations, 12 * scores);
  // Five products instead of four: the scores are computed once more.
  EXPECT_GT(FlopsOf(*without, RunPhase::kBackward), FlopsOf(*with, RunPhase::kBackward));
}

TEST(TrainingStep, AnOptimizerReadsAndWritesItsWeights) {
  double before = 0;
  for (const OptimizerKind optimizer :
       {OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdamw}) {
    DescribeOptions options{.input = {.seq = 8}};
    options.training = {optimizer, false};
    const auto step = Step("distilgpt2", options);
    ASSERT_TRUE(step);
    const NodeId last = step->tree.nodes.back().parent;
    ASSERT_EQ(step->nodes[last].phase, RunPhase::kOptimizer);
    EXPECT_GT(step->nodes[last].work.Bytes(), before) << OptimizerName(optimizer);
    before = step->nodes[last].work.Bytes();
    if (optimizer == OptimizerKind::kSgd) {
      EXPECT_EQ(before, 3 * 4.0 * static_cast<double>(step->nodes[0].parameters));
    }
  }
}

TEST(TrainingStep, RefusesWhatIsNotTrained) {
  const auto refused = [](DescribeOptions options, const char* why) {
    options.training = Training();
    if (options.head == HeadChoice::kNone) options.head = HeadChoice::kUsual;
    const auto step = Describe(*FindConfig("gpt2"), options);
    ASSERT_FALSE(step) << why;
    EXPECT_EQ(step.error().code, ErrorCode::kMisuse);
    EXPECT_THAT(step.error().message, HasSubstr(why));
  };
  refused({.input = {.prompt = 8, .generate = 4}}, "whole sequences");
  refused({.input = {.seq = 8, .gpus = 2}}, "one GPU");
  refused({.input = {.seq = 8}, .dtype = Dtype::kInt8}, "int8");
  DescribeOptions bare{.input = {.seq = 8}};
  bare.training = Training();
  bare.head = HeadChoice::kNone;
  EXPECT_FALSE(Describe(*FindConfig("gpt2"), bare));
}

}  // namespace
}  // namespace beryl::models
