// Laws of what flows between operations, for every family; which module's output goes into which is
// checked against the library in facts_test.cc.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "base/text.h"
#include "models/families.h"
#include "models/models.h"

namespace beryl::models {
namespace {

struct SmallModel {
  std::string name;
  std::string config;
  std::string family;
};

// The odd shapes of tests/data/models/facts.jsonl.
std::vector<SmallModel> SmallModels() {
  std::vector<SmallModel> models;
  std::ifstream file("tests/data/models/facts.jsonl");
  for (std::string line; std::getline(file, line);) {
    SmallModel model;
    bool whole = false;
    const auto walked = json::WalkObject(line, "facts", [&](json::Key key, json::Value value) {
      if (key == "case") model.name = *value.String();
      if (key == "config") model.config = value.Raw(1 << 20);
      if (key == "nodes") whole = true;
      if (key == "of") model.config.clear();
    });
    if (!walked || !whole || model.config.empty()) continue;
    model.family = model.name.substr(0, model.name.rfind('-'));
    models.push_back(std::move(model));
  }
  return models;
}

// Every way in which a family can run at a small size.
std::vector<DescribeOptions> RunsOf(const Family& family) {
  std::vector<DescribeOptions> runs;
  for (const auto attention :
       {AttentionKind::kEager, AttentionKind::kSdpa, AttentionKind::kFlash}) {
    for (const int64_t gpus : {1, 2, 3}) {
      DescribeOptions options = {.input = {.batch = 2, .gpus = gpus}, .attention = attention};
      if (gpus > 1) options.dtype = Dtype::kFloat16;
      if (family.input != InputKind::kImage) options.input.seq = 7;
      runs.push_back(options);
      if (!family.generates) continue;
      options.head = HeadChoice::kLanguageModel;
      options.input.seq = 0;
      options.input.prompt = 5;
      options.input.generate = 3;
      runs.push_back(options);
    }
  }
  return runs;
}

// Calls `check(description)` for every family, shape and run. Shapes whose heads three GPUs cannot
// share are left out there.
template <typename Check>
void ForEveryRun(Check&& check) {
  size_t count = 0;
  std::set<std::string> families;
  for (const SmallModel& model : SmallModels()) {
    const Family* family = FindFamily(model.family);
    ASSERT_NE(family, nullptr) << model.name;
    for (const DescribeOptions& options : RunsOf(*family)) {
      SCOPED_TRACE(model.name + " " + std::string(AttentionName(options.attention)) + " gpus " +
                   std::to_string(options.input.gpus) + " prompt " +
                   std::to_string(options.input.prompt));
      const auto description = Describe({model.name, model.config}, options);
      if (!description) {
        ASSERT_GT(options.input.gpus, 1) << description.error().message;
        continue;
      }
      families.insert(model.family);
      check(*description);
      ++count;
    }
  }
  EXPECT_EQ(families.size(), Families().size());
  EXPECT_GT(count, 300u);
}

bool IsOperation(const Description& description, NodeId node) {
  const auto kind = description.nodes[node].kind;
  return kind && *kind != MathKind::kView;
}

// What goes in.
std::map<NodeId, std::vector<NodeId>> MakersOf(const Description& description) {
  std::map<NodeId, std::vector<NodeId>> makers;
  for (const Flow& flow : description.flows) makers[flow.to].push_back(flow.from);
  return makers;
}

std::string Where(const Description& description, NodeId node) {
  return description.nodes[node].scope + " " + description.tree.nodes[node].name + " (" +
         std::to_string(node) + ")";
}

const std::string& TypeAbove(const Description& description, NodeId node) {
  return description.tree.nodes[description.tree.nodes[node].parent].type;
}

// Operations whose inputs all come from outside of the pass: what the user gives, weights, numbers.
bool IsSource(const Description& description, NodeId node) {
  const DescribedNode& of = description.nodes[node];
  const std::string& name = description.tree.nodes[node].name;
  const std::string& above = TypeAbove(description, node);
  if (of.input_count == 0) return true;  // ones, zeros, arange
  if (of.kind == MathKind::kGather || of.kind == MathKind::kConvolution) return true;  // the input
  if (name == "le") return true;                                        // positions, for a mask
  if (name == "ne") return above.ends_with("Embeddings");               // the input
  if (name == "to" && above.ends_with("RotaryEmbedding")) return true;  // positions
  if (name == "bucket") return above == "T5Attention";                  // pairs of positions
  if (name == "index") return above == "CTRLModel";                     // a table of sines
  if (name == "to") return above == "GPT2Attention";     // its matrix of truth values
  if (name == "rsub") return above == "Attention";       // its matrix of ones
  if (name == "add") return above.ends_with("RMSNorm");  // 1 to a weight
  return false;
}

TEST(FlowsTest, GoForwardInOrderAndBetweenOperations) {
  ForEveryRun([](const Description& description) {
    ASSERT_FALSE(description.flows.empty());
    EXPECT_TRUE(std::is_sorted(description.flows.begin(), description.flows.end()));
    EXPECT_EQ(std::adjacent_find(description.flows.begin(), description.flows.end()),
              description.flows.end())
        << "each once";
    for (const Flow& flow : description.flows) {
      ASSERT_LT(flow.to, description.nodes.size());
      EXPECT_LT(flow.from, flow.to);
      EXPECT_TRUE(IsOperation(description, flow.from)) << Where(description, flow.from);
      EXPECT_TRUE(IsOperation(description, flow.to)) << Where(description, flow.to);
      EXPECT_EQ(description.nodes[flow.from].phase, description.nodes[flow.to].phase);
    }
  });
}

TEST(FlowsTest, WhatIsNoSourceTakesSomething) {
  ForEveryRun([](const Description& description) {
    const auto makers = MakersOf(description);
    for (NodeId node = 0; node < description.nodes.size(); ++node) {
      if (!IsOperation(description, node) || IsSource(description, node)) continue;
      EXPECT_TRUE(makers.count(node) > 0) << Where(description, node) << " takes nothing";
    }
  });
}

// No operation takes more of them than shapes go in, but for those that read beside: of heads
// joined (cat, stack), experts chosen (index, div), positions that count (mul), masks of fused
// attention.
TEST(FlowsTest, NoMoreComeInThanShapesSay) {
  const std::set<std::string> beside = {"cat", "stack", "index",
                                        "div", "mul",   "scaled_dot_product_attention"};
  ForEveryRun([&](const Description& description) {
    for (const auto& [node, makers] : MakersOf(description)) {
      if (beside.count(description.tree.nodes[node].name) > 0) continue;
      EXPECT_LE(makers.size(), description.nodes[node].input_count) << Where(description, node);
    }
  });
}

// Everything ends in the last operation of its phase, but what is written for later (the cache of
// GPT-2) and masks that flash attention does without.
TEST(FlowsTest, LeadToTheOutput) {
  ForEveryRun([](const Description& description) {
    std::map<RunPhase, NodeId> last;
    for (NodeId node = 0; node < description.nodes.size(); ++node) {
      if (IsOperation(description, node)) last[description.nodes[node].phase] = node;
    }
    std::vector<bool> goes_on(description.nodes.size());
    for (const Flow& flow : description.flows) goes_on[flow.from] = true;
    for (NodeId node = 0; node < description.nodes.size(); ++node) {
      if (!IsOperation(description, node) || goes_on[node]) continue;
      const bool is_mask =
          description.attention == AttentionKind::kFlash && description.tree.nodes[node].depth == 1;
      const bool is_kept = description.tree.nodes[node].name == "stack";
      EXPECT_TRUE(is_mask || is_kept || last[description.nodes[node].phase] == node)
          << Where(description, node) << " goes nowhere";
    }
  });
}

// What the first embedding or convolution of a phase gives reaches the last operation.
TEST(FlowsTest, LeadFromTheInputToTheOutput) {
  ForEveryRun([](const Description& description) {
    std::map<RunPhase, NodeId> last;
    std::set<RunPhase> begun;
    std::vector<bool> reached(description.nodes.size());
    for (NodeId node = 0; node < description.nodes.size(); ++node) {
      if (!IsOperation(description, node)) continue;
      const DescribedNode& of = description.nodes[node];
      last[of.phase] = node;
      const bool embeds = of.kind == MathKind::kGather || of.kind == MathKind::kConvolution;
      if (embeds && begun.insert(of.phase).second) reached[node] = true;
    }
    for (const Flow& flow : description.flows) {
      if (reached[flow.from]) reached[flow.to] = true;
    }
    for (const auto& [phase, node] : last) {
      EXPECT_TRUE(reached[node]) << Where(description, node);
    }
  });
}

// "layers", of "layers.3"; empty: it is no layer.
std::string StemOf(const TreeNode& node) {
  const auto number = SplitNumber(node.name);
  return node.level == Level::kModule && number ? node.name.substr(0, node.name.rfind('.')) : "";
}

TEST(FlowsTest, EachLayerTakesFromTheOneBefore) {
  ForEveryRun([](const Description& description) {
    const auto& nodes = description.tree.nodes;
    std::map<std::pair<NodeId, std::string>, NodeId> before;  // by parent and stem
    for (NodeId node = 0; node < nodes.size(); ++node) {
      const std::string stem = StemOf(nodes[node]);
      if (stem.empty()) continue;
      const auto at = before.find({nodes[node].parent, stem});
      if (at != before.end()) {
        const NodeId layer = at->second;
        EXPECT_TRUE(std::any_of(description.flows.begin(), description.flows.end(),
                                [&](const Flow& flow) {
                                  return flow.from > layer && flow.from < nodes[layer].end &&
                                         flow.to > node && flow.to < nodes[node].end;
                                }))
            << Where(description, node);
      }
      before[{nodes[node].parent, stem}] = node;
    }
  });
}

// An addition in a layer, of what went by to what was made of it.
bool IsResidual(const Description& description, NodeId node) {
  const DescribedNode& of = description.nodes[node];
  if (!of.kind || description.tree.nodes[node].name != "add" || of.input_count != 2) return false;
  const TreeNode& above = description.tree.nodes[description.tree.nodes[node].parent];
  const Shape& a = description.shapes[of.first_shape];
  const Shape& b = description.shapes[of.first_shape + 1];
  return above.level == Level::kModule && a.rank == 3 && a.dims == b.dims;
}

TEST(FlowsTest, ResidualsAddTwoDifferentThings) {
  ForEveryRun([](const Description& description) {
    const auto makers = MakersOf(description);
    std::map<NodeId, size_t> residuals;  // by layer
    const auto& nodes = description.tree.nodes;
    for (NodeId node = 0; node < nodes.size(); ++node) {
      if (!StemOf(nodes[node]).empty() && StemOf(nodes[nodes[node].parent]).empty()) {
        residuals.emplace(node, 0);
      }
      if (!IsResidual(description, node)) continue;
      EXPECT_EQ(makers.at(node).size(), 2u) << Where(description, node);
      for (auto& [layer, count] : residuals) count += node < nodes[layer].end;
    }
    ASSERT_FALSE(residuals.empty());
    for (const auto& [layer, count] : residuals) EXPECT_GE(count, 2u) << Where(description, layer);
  });
}

// "scope operation" of what goes into the operation of that name in that scope.
std::vector<std::string> Into(const Description& description, const std::string& scope,
                              const std::string& name) {
  std::vector<std::string> from;
  for (const Flow& flow : description.flows) {
    if (description.nodes[flow.to].scope != scope || description.tree.nodes[flow.to].name != name) {
      continue;
    }
    from.push_back(description.nodes[flow.from].scope + " " +
                   description.tree.nodes[flow.from].name);
  }
  return from;
}

Description Small(const std::string& text, const DescribeOptions& options) {
  auto description = Describe({"small", text}, options);
  EXPECT_TRUE(description) << (description ? "" : description.error().message);
  return description ? std::move(*description) : Description();
}

constexpr const char* kSmallLlama =
    R"({"model_type": "llama", "vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 80})";

TEST(FlowsTest, OfADecoderAreThoseOfItsCode) {
  const Description description = Small(kSmallLlama, {.input = {.batch = 2, .seq = 7}});
  EXPECT_THAT(Into(description, "layers.0.mlp.down_proj", "mm"), ElementsAre("layers.0.mlp mul"));
  EXPECT_THAT(Into(description, "layers.0.mlp", "mul"),
              ElementsAre("layers.0.mlp.act_fn silu", "layers.0.mlp.up_proj mm"));
  EXPECT_THAT(Into(description, "layers.1.self_attn.v_proj", "mm"),
              ElementsAre("layers.1.input_layernorm mul"));
  // Both sums: of attention to what came in, and of the network to that.
  EXPECT_THAT(Into(description, "layers.1", "add"),
              UnorderedElementsAre("layers.0 add", "layers.1.self_attn.o_proj mm", "layers.1 add",
                                   "layers.1.mlp.down_proj mm"));
  // Each half turned by the angles of all layers.
  EXPECT_THAT(Into(description, "layers.1.self_attn", "neg"),
              ElementsAre("layers.1.self_attn.q_proj mm", "layers.1.self_attn.k_proj mm"));
  EXPECT_EQ(Into(description, "layers.1.self_attn", "softmax"),
            std::vector<std::string>{"layers.1.self_attn add"});
  EXPECT_THAT(Into(description, "layers.1.self_attn", "repeat_kv"),
              ElementsAre("layers.1.self_attn cat", "layers.1.self_attn cat"));
}

TEST(FlowsTest, ArePassedOnByWhatAllGpusAddUp) {
  const Description description = Small(kSmallLlama, {.input = {.seq = 7, .gpus = 2}});
  EXPECT_THAT(Into(description, "layers.0.mlp.down_proj", "all_reduce"),
              ElementsAre("layers.0.mlp.down_proj mm"));
  EXPECT_THAT(Into(description, "layers.0", "add"),
              UnorderedElementsAre("embed_tokens embedding", "layers.0.self_attn.o_proj all_reduce",
                                   "layers.0 add", "layers.0.mlp.down_proj all_reduce"));
}

TEST(FlowsTest, ChosenExpertsTakeTheTokensAndTheirShares) {
  const Description description = Small(
      R"({"model_type": "mixtral", "vocab_size": 101, "hidden_size": 48, "num_hidden_layers": 1,
          "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 80})",
      {.input = {.seq = 7}});
  const std::string norm = "layers.0.post_attention_layernorm mul";
  EXPECT_THAT(Into(description, "layers.0.mlp.experts", "index"),
              ElementsAre(norm, "layers.0.mlp.gate topk"));
  EXPECT_THAT(Into(description, "layers.0.mlp.gate", "mm"), ElementsAre(norm));
  EXPECT_THAT(Into(description, "layers.0.mlp.experts", "sum"),
              ElementsAre("layers.0.mlp.experts mul"));
}

// What is in the cache already comes from outside.
TEST(FlowsTest, DecodersTakeTheEncodersOutputOnce) {
  const char* text = R"({"model_type": "t5", "d_model": 48, "d_ff": 80, "num_layers": 2,
                         "num_heads": 3, "d_kv": 16, "vocab_size": 101})";
  const Description description = Small(text, {.input = {.prompt = 9, .generate = 4}});
  EXPECT_THAT(Into(description, "decoder.block.1.layer.1.EncDecAttention.k", "mm"),
              ElementsAre("encoder.final_layer_norm mul"));
  // The bias that the first layer makes is taken by all; scores and bias, twice: for each phase.
  EXPECT_THAT(Into(description, "decoder.block.1.layer.0.SelfAttention", "softmax").size(), 2u);
  const auto sums = Into(description, "decoder.block.1.layer.0.SelfAttention", "add");
  EXPECT_EQ(std::count(sums.begin(), sums.end(),
                       "decoder.block.0.layer.0.SelfAttention.relative_attention_bias embedding"),
            2);
}

}  // namespace
}  // namespace beryl::models
