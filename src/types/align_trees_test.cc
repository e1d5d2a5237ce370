#include "types/align_trees.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/matchers_for_test.h"
#include "types/tree_testing.h"

namespace beryl {
namespace {

ModelTree TinyBert() {
  return TreeOf({
      "tiny TinyModel model",
      "  embeddings Embeddings module",
      "    words Embedding ml",
      "    places Embedding ml",
      "  layer.0 Layer module",
      "    query Linear ml",
      "    key Linear ml",
      "    MatMul MatMul ml",
      "    norm LayerNorm ml",
      "  layer.1 Layer module",
      "    query Linear ml",
      "    key Linear ml",
      "    MatMul MatMul ml",
      "    norm LayerNorm ml",
  });
}

AlignHints HintsFor(const ModelTree& description) {
  AlignHints hints;
  for (const TreeNode& node : description.nodes) {
    hints.is_module.push_back(IsModule(node.level) && node.name != "MatMul");
  }
  return hints;
}

// Paths of the run and the scopes they were found to be.
std::map<std::string, std::string> Aligned(const ModelTree& run, const ModelTree& description,
                                           const AlignHints& hints) {
  std::map<std::string, std::string> aligned;
  const std::vector<NodeId> match = Align(run, description, hints).match;
  for (NodeId node = 0; node < run.size(); ++node) {
    if (match[node] == kNoNode) continue;
    aligned[NodePath(run, node)] = match[node] == 0 ? "." : ScopeOf(description, match[node]);
  }
  return aligned;
}

std::map<std::string, std::string> Aligned(const ModelTree& run) {
  return Aligned(run, TinyBert(), HintsFor(TinyBert()));
}

std::vector<std::string> ByClass(const std::string& indent) {
  std::vector<std::string> lines = {
      "TinyModel_0 TinyModel module", "  Embeddings_0 Embeddings module",
      "    Embedding_0 Embedding ml", "    Embedding_1 Embedding ml",
      "  Layer_0 Layer module",       "    Linear_0 Linear ml",
      "      aten::addmm addmm math", "    Linear_1 Linear ml",
      "    LayerNorm_0 LayerNorm ml", "    aten::bmm bmm math",
      "  Layer_1 Layer module",       "    Linear_2 Linear ml",
      "    Linear_3 Linear ml",       "    LayerNorm_1 LayerNorm ml",
  };
  for (std::string& line : lines) line = indent + line;
  return lines;
}

ModelTree Wrapped(const std::vector<std::string>& wrappers) {
  std::vector<std::string> lines = {"model - model"};
  std::string indent = "  ";
  for (const std::string& wrapper : wrappers) {
    lines.push_back(indent + wrapper + "_0 " + wrapper + " module");
    indent += "  ";
  }
  for (const std::string& line : ByClass(indent)) lines.push_back(line);
  return TreeOf(lines);
}

TEST(AlignTest, ClassesAndTheirOrderTellModules) {
  const auto aligned = Aligned(Wrapped({}));
  EXPECT_EQ(aligned.size(), 12U);
  EXPECT_EQ(aligned.at("TinyModel_0"), ".");
  EXPECT_EQ(aligned.at("TinyModel_0/Embeddings_0/Embedding_1"), "embeddings.places");
  EXPECT_EQ(aligned.at("TinyModel_0/Layer_1/Linear_2"), "layer.1.query");
  EXPECT_EQ(aligned.at("TinyModel_0/Layer_1/Linear_3"), "layer.1.key");
}

TEST(AlignTest, WrappersAroundTheModelAreLookedThrough) {
  const std::string prefix = "DistributedDataParallel_0/OptimizedModule_0/";
  const auto aligned = Aligned(Wrapped({"DistributedDataParallel", "OptimizedModule"}));
  EXPECT_EQ(aligned.size(), 12U);
  EXPECT_EQ(aligned.at(prefix + "TinyModel_0/Layer_0/LayerNorm_0"), "layer.0.norm");
}

TEST(AlignTest, WrappersInsideOfTheModelAreLookedThrough) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  TinyModel_0 TinyModel module",
      "    CheckpointWrapper_0 CheckpointWrapper module",
      "      Layer_0 Layer module",
      "        Linear_0 Linear ml",
      "        Linear_1 Linear ml",
      "    CheckpointWrapper_1 CheckpointWrapper module",
      "      Layer_1 Layer module",
      "        Linear_2 Linear ml",
  }));
  EXPECT_EQ(aligned.at("TinyModel_0/CheckpointWrapper_1/Layer_1"), "layer.1");
  EXPECT_EQ(aligned.at("TinyModel_0/CheckpointWrapper_1/Layer_1/Linear_2"), "layer.1.query");
  EXPECT_FALSE(aligned.contains("TinyModel_0/CheckpointWrapper_0"));
}

TEST(AlignTest, AttributePathsDecideWhateverTheOrder) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  module - module",
      "    layer_._1 - module",
      "      key - module",
      "      query - module",
      "    layer_._0 - module",
      "      query - module",
  }));
  EXPECT_THAT(aligned,
              UnorderedElementsAre(Pair("module", "."), Pair("module/layer_._1", "layer.1"),
                                   Pair("module/layer_._1/key", "layer.1.key"),
                                   Pair("module/layer_._1/query", "layer.1.query"),
                                   Pair("module/layer_._0", "layer.0"),
                                   Pair("module/layer_._0/query", "layer.0.query")));
}

TEST(AlignTest, AListWithANodeOfItsOwnIsPartOfTheName) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  layer - module",
      "    0 - module",
      "      query - module",
      "    1 - module",
      "      query - module",
  }));
  EXPECT_EQ(aligned.at("layer/1/query"), "layer.1.query");
}

TEST(AlignTest, SizesOfWeightsGoBeforeOrder) {
  const ModelTree run = Wrapped({});
  const ModelTree description = TinyBert();
  AlignHints hints = HintsFor(description);
  // The program looks up places before words.
  hints.fits = [&](NodeId node, NodeId of) -> std::optional<bool> {
    if (description[of].type != "Embedding") return std::nullopt;
    return (run[node].name == "Embedding_0") == (description[of].name == "places");
  };
  const auto aligned = Aligned(run, description, hints);
  EXPECT_EQ(aligned.at("TinyModel_0/Embeddings_0/Embedding_0"), "embeddings.places");
  EXPECT_EQ(aligned.at("TinyModel_0/Embeddings_0/Embedding_1"), "embeddings.words");
}

TEST(AlignTest, AHeadStandsBesideItsModel) {
  ModelTree description = TreeOf({
      "tiny TinyModel model",
      "  layer.0 Layer module",
      "    query Linear ml",
      "  classifier Linear ml",
  });
  const auto aligned = Aligned(TreeOf({
                                   "model - model",
                                   "  TinyForSomething_0 TinyForSomething module",
                                   "    TinyModel_0 TinyModel module",
                                   "      Layer_0 Layer module",
                                   "        Linear_0 Linear ml",
                                   "    Dropout_0 Dropout ml",
                                   "    Linear_1 Linear ml",
                               }),
                               description, HintsFor(description));
  EXPECT_EQ(aligned.at("TinyForSomething_0/Linear_1"), "classifier");
  EXPECT_FALSE(aligned.contains("TinyForSomething_0/Dropout_0"));
}

TEST(AlignTest, ClassesOfAnotherVersionAreRecognised) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  TinyModel_0 TinyModel module",
      "    SdpaLayer_0 SdpaLayer module",
      "      Linear_0 Linear ml",
      "      Linear8bitLt_0 Linear8bitLt ml",
      "      FusedLayerNorm_0 FusedLayerNorm ml",
  }));
  EXPECT_EQ(aligned.at("TinyModel_0/SdpaLayer_0"), "layer.0");
  EXPECT_EQ(aligned.at("TinyModel_0/SdpaLayer_0/Linear8bitLt_0"), "layer.0.key");
  EXPECT_EQ(aligned.at("TinyModel_0/SdpaLayer_0/FusedLayerNorm_0"), "layer.0.norm");
}

TEST(AlignTest, OfTwoModelsTheFullerOneIsTheModel) {
  std::vector<std::string> lines = {"model - model", "  TinyModel_1 TinyModel module",
                                    "    Layer_9 Layer module"};
  for (const std::string& line : ByClass("  ")) lines.push_back(line);
  const auto aligned = Aligned(TreeOf(lines));
  EXPECT_EQ(aligned.at("TinyModel_0"), ".");
  EXPECT_FALSE(aligned.contains("TinyModel_1"));
}

TEST(AlignTest, ARunOfSomethingElseMatchesNothing) {
  EXPECT_THAT(Aligned(TreeOf({"model - model", "  ResNet_0 ResNet module", "    Conv2d_0 Conv2d ml",
                              "    BatchNorm2d_0 BatchNorm2d ml"})),
              IsEmpty());
  EXPECT_THAT(Aligned(TreeOf({"model - model", "  aten::mm mm math"})), IsEmpty());
}

TEST(AlignTest, EachModuleOfTheDescriptionIsGivenOnce) {
  const ModelTree run = Wrapped({});
  const std::vector<NodeId> match = Align(run, TinyBert(), HintsFor(TinyBert())).match;
  std::map<NodeId, int> given;
  for (const NodeId node : match) {
    if (node != kNoNode) ++given[node];
  }
  for (const auto& [node, times] : given) EXPECT_EQ(times, 1) << node;
}

// What has parts is not taken for a primitive, whatever sizes were seen in it.
TEST(AlignTest, AModuleWithPartsIsNoPrimitive) {
  const ModelTree description = TreeOf({
      "tiny TinyForSomething model",
      "  layer.0 Layer module",
      "    query Linear ml",
      "  norm LayerNorm ml",
  });
  const ModelTree run = TreeOf({
      "model - model",
      "  TinyForSomething_0 TinyForSomething module",
      "    TinyModel_0 TinyModel module",
      "      Layer_0 Layer module",
      "        Linear_0 Linear ml",
      "      LayerNorm_0 LayerNorm ml",
  });
  AlignHints hints = HintsFor(description);
  hints.fits = [](NodeId, NodeId) { return true; };
  const std::string inside = "TinyForSomething_0/TinyModel_0/";
  EXPECT_THAT(
      Aligned(run, description, hints),
      UnorderedElementsAre(Pair("TinyForSomething_0", "."), Pair(inside + "Layer_0", "layer.0"),
                           Pair(inside + "Layer_0/Linear_0", "layer.0.query"),
                           Pair(inside + "LayerNorm_0", "norm")));
}

// LoRA's Linear may be put on a module of another class.
TEST(AlignTest, AnAdapterStandsForWhatItIsPutOn) {
  const ModelTree description = TreeOf({
      "tiny TinyModel model",
      "  attn Attention module",
      "    c_attn Conv1D ml",
      "    c_proj Conv1D ml",
  });
  const ModelTree run = TreeOf({
      "model - model",
      "  TinyModel_0 TinyModel module",
      "    Attention_0 Attention module",
      "      Linear_0 Linear module",
      "        Conv1D_0 Conv1D ml",
      "        Linear_0 Linear ml",
      "        Linear_1 Linear ml",
      "      Conv1D_1 Conv1D ml",
  });
  AlignHints hints = HintsFor(description);
  hints.fits = [&](NodeId node, NodeId of) -> std::optional<bool> {
    if (run[node].type != "Conv1D") return std::nullopt;
    return (run[node].name == "Conv1D_0") == (description[of].name == "c_attn");
  };
  const auto aligned = Aligned(run, description, hints);
  EXPECT_EQ(aligned.at("TinyModel_0/Attention_0/Linear_0"), "attn.c_attn");
  EXPECT_EQ(aligned.at("TinyModel_0/Attention_0/Conv1D_1"), "attn.c_proj");
  EXPECT_FALSE(aligned.contains("TinyModel_0/Attention_0/Linear_0/Conv1D_0"));
}

// A layer that was called but did nothing is not in the run; the number in its name was used up.
TEST(AlignTest, NumbersTellWhichLayerDidNothing) {
  const ModelTree description = TreeOf({
      "tiny TinyModel model",
      "  layer.0 Layer module",
      "    query Linear ml",
      "  layer.1 Layer module",
      "    query Linear ml",
      "  layer.2 Layer module",
      "    query Linear ml",
  });
  const auto aligned = Aligned(TreeOf({
                                   "model - model",
                                   "  TinyModel_0 TinyModel module",
                                   "    Layer_3 Layer module",
                                   "      Linear_0 Linear ml",
                                   "    Layer_5 Layer module",
                                   "      Linear_2 Linear ml",
                               }),
                               description, HintsFor(description));
  EXPECT_EQ(aligned.at("TinyModel_0/Layer_3"), "layer.0");
  EXPECT_EQ(aligned.at("TinyModel_0/Layer_5"), "layer.2");
  EXPECT_EQ(aligned.at("TinyModel_0/Layer_5/Linear_2"), "layer.2.query");
}

// A generation calls the encoder from outside of the model, which then holds the decoder alone.
TEST(AlignTest, WhatAPartIsMadeOfTellsEncoderFromDecoder) {
  const ModelTree description = TreeOf({
      "tiny TinyT5 model",
      "  encoder Stack module",
      "    attention Attention module",
      "      query Linear ml",
      "  decoder Stack module",
      "    attention Attention module",
      "      query Linear ml",
      "    cross CrossAttention module",
      "      query Linear ml",
  });
  const auto aligned = Aligned(TreeOf({
                                   "model - model",
                                   "  Stack_0 Stack module",
                                   "    Attention_0 Attention module",
                                   "      Linear_0 Linear ml",
                                   "  TinyT5_0 TinyT5 module",
                                   "    Stack_1 Stack module",
                                   "      Attention_1 Attention module",
                                   "        Linear_1 Linear ml",
                                   "      CrossAttention_0 CrossAttention module",
                                   "        Linear_2 Linear ml",
                               }),
                               description, HintsFor(description));
  EXPECT_EQ(aligned.at("Stack_0"), "encoder");
  EXPECT_EQ(aligned.at("TinyT5_0/Stack_1"), "decoder");
  EXPECT_EQ(aligned.at("TinyT5_0/Stack_1/CrossAttention_0/Linear_2"), "decoder.cross.query");
}

TEST(AlignTest, OfTwoModelsOfOneClassTheOneWhoseWeightsFitIsMeant) {
  std::vector<std::string> lines = {"model - model"};
  for (const std::string& line : ByClass("  ")) lines.push_back(line);
  for (std::string line : ByClass("  ")) {
    if (const size_t at = line.find("_0 "); at != std::string::npos) line.replace(at, 2, "_7");
    lines.push_back(std::move(line));
  }
  const ModelTree run = TreeOf(lines);
  const NodeId second = run[0].end / 2 + 1;
  AlignHints hints = HintsFor(TinyBert());
  hints.fits = [&](NodeId node, NodeId) { return node >= second; };
  const auto aligned = Aligned(run, TinyBert(), hints);
  EXPECT_EQ(aligned.at("TinyModel_7"), ".");
  EXPECT_FALSE(aligned.contains("TinyModel_0"));
}

// Checkpointed layers run inside of an operation, beside modules that do not.
TEST(AlignTest, ModulesThatAnOperationCallsStandBesideOthers) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  TinyModel_0 TinyModel module",
      "    Embeddings_0 Embeddings module",
      "    CheckpointFunction CheckpointFunction math",
      "      Layer_0 Layer module",
      "        Linear_0 Linear ml",
      "      Layer_1 Layer module",
      "        Linear_2 Linear ml",
      "    CheckpointFunctionBackward CheckpointFunctionBackward math",
      "      Layer_1 Layer module",
  }));
  const std::string inside = "TinyModel_0/CheckpointFunction/";
  EXPECT_EQ(aligned.at("TinyModel_0/Embeddings_0"), "embeddings");
  EXPECT_EQ(aligned.at(inside + "Layer_0/Linear_0"), "layer.0.query");
  EXPECT_EQ(aligned.at(inside + "Layer_1/Linear_2"), "layer.1.query");
  EXPECT_FALSE(aligned.contains("TinyModel_0/CheckpointFunctionBackward/Layer_1"));
}

// A renamed first module is like the last one of the run, too.
TEST(AlignTest, OnePairDoesNotHideThoseBetween) {
  const ModelTree description = TreeOf({
      "tiny TinyModel model",
      "  first Norm ml",
      "  a LayerA module",
      "    x Linear ml",
      "  b LayerB module",
      "    y Linear ml",
      "  last Norm ml",
  });
  const auto aligned = Aligned(TreeOf({
                                   "model - model",
                                   "  TinyModel_0 TinyModel module",
                                   "    FastLayerA_0 FastLayerA module",
                                   "      Linear_0 Linear ml",
                                   "    FastLayerB_0 FastLayerB module",
                                   "      Linear_1 Linear ml",
                                   "    FastNorm_0 FastNorm ml",
                               }),
                               description, HintsFor(description));
  EXPECT_EQ(aligned.at("TinyModel_0/FastLayerA_0/Linear_0"), "a.x");
  EXPECT_EQ(aligned.at("TinyModel_0/FastLayerB_0/Linear_1"), "b.y");
  EXPECT_EQ(aligned.at("TinyModel_0/FastNorm_0"), "last");
}

// TensorFlow names gradients and updates of weights like the modules they belong to.
// A fused attention does not call its dropout.
TEST(AlignTest, OrderAmongSiblingsSaysWhatDidNotRun) {
  const ModelTree description = TreeOf({"m M model", "  in Linear ml", "  inner Dropout ml",
                                        "  out Linear ml", "  outer Dropout ml"});
  const ModelTree run = TreeOf({"run - model", "  M_0 M module", "    Linear_0 Linear ml",
                                "    Linear_1 Linear ml", "    Dropout_0 Dropout ml"});
  EXPECT_EQ(Aligned(run, description, HintsFor(description))["M_0/Dropout_0"], "outer");
}

TEST(AlignTest, GradientsAndUpdatesAreTheirModulesAgain) {
  const ModelTree run = TreeOf({
      "model - model",
      "  Adam NoOp math",
      "    update_tiny - module",
      "      layer_0 - module",
      "        query - module",
      "        key - module",
      "      layer_1 - module",
      "        query - module",
      "  gradients - module",
      "    tiny - module",
      "      layer_0 - module",
      "        query - module",
      "  tiny - module",
      "    layer_0 - module",
      "      query - module",
      "    layer_1 - module",
      "      query - module",
  });
  AlignHints hints = HintsFor(TinyBert());
  const NodeId model = 12;
  ASSERT_EQ(run[model].parent, 0U);
  for (NodeId node = 0; node < run.size(); ++node) {
    hints.runs_forward.push_back(node == 0 || node >= model);
  }
  const ModelTree description = TinyBert();
  const AlignedTrees aligned = Align(run, description, hints);
  std::map<std::string, std::string> again;
  for (NodeId node = 0; node < run.size(); ++node) {
    if (aligned.match[node] != kNoNode) {
      EXPECT_GE(node, model);
    }
    if (aligned.again[node] == kNoNode) continue;
    EXPECT_LT(node, model);
    again[NodePath(run, node)] = ScopeOf(description, aligned.again[node]);
  }
  EXPECT_EQ(aligned.match[model], 0U);
  EXPECT_EQ(ScopeOf(description, aligned.match[model + 4]), "layer.1.query");
  EXPECT_EQ(again.at("Adam/update_tiny/layer_1/query"), "layer.1.query");
  EXPECT_EQ(again.at("gradients/tiny/layer_0/query"), "layer.0.query");
}

TEST(AlignTest, ReplicasOfDataParallelAreTheModelAgain) {
  std::vector<std::string> lines = {"model - model", "  DataParallel_0 DataParallel module"};
  const auto add_replica = [&] {
    for (const std::string& line : ByClass("  ")) lines.push_back(line);
    lines[lines.size() - ByClass("").size()] =
        "  TinyModel_" + std::to_string(lines.size()) + " TinyModel module";
  };
  add_replica();
  add_replica();
  AlignHints hints = HintsFor(TinyBert());
  const auto count_again = [&] {
    const AlignedTrees aligned = Align(TreeOf(lines), TinyBert(), hints);
    return std::count_if(aligned.again.begin(), aligned.again.end(),
                         [](NodeId node) { return node != kNoNode; });
  };
  EXPECT_EQ(count_again(), 12);
  // Otherwise they are two models, unless they ran on different threads.
  lines.erase(lines.begin() + 1);
  EXPECT_EQ(count_again(), 0);
  hints.apart = [](NodeId, NodeId) { return true; };
  EXPECT_EQ(count_again(), 12);
}

TEST(AlignTest, TheModelIsFoundAmongManyScopes) {
  std::vector<std::string> lines = {"model - model"};
  for (int i = 0; i < 70; ++i) {
    lines.push_back("  other_" + std::to_string(i) + " - module");
    lines.emplace_back("    query - module");
  }
  for (const char* line :
       {"  outer - module", "    tiny - module", "      layer_0 - module", "        query - module",
        "        key - module", "      layer_1 - module", "        query - module"}) {
    lines.emplace_back(line);
  }
  EXPECT_EQ(Aligned(TreeOf(lines)).at("outer/tiny/layer_1/query"), "layer.1.query");
}

// A compiled model shows none of its modules.
TEST(AlignTest, TheModelsClassIsFoundWithoutItsParts) {
  const auto aligned = Aligned(TreeOf({
      "model - model",
      "  OptimizedModule_0 OptimizedModule module",
      "    TinyModel_0 TinyModel module",
      "      aten::addmm addmm math",
  }));
  EXPECT_THAT(aligned, UnorderedElementsAre(Pair("OptimizedModule_0/TinyModel_0", ".")));
}

}  // namespace
}  // namespace beryl
