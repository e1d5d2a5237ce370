// The families of models: one file each that reads like the model, and a table that knows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/graph.h"

namespace beryl::models {

enum class InputKind : uint8_t { kTokens, kTokensBothWays, kImage };

// What a family has built, as far as heads go on from it.
struct BareModel {
  Tensor hidden = {};  // what the last layer gives, for all tokens
  Tensor pooled = {};  // what the pooler gives; of rank 0 where there is none
  int64_t vocab = 0;
  int64_t word_size = 0;  // of a row of the table of words, if not the hidden size (ALBERT)
  std::string activation = {};
  bool tied = true;  // the language model's head takes the table of words
};

struct Family {
  std::string_view model_type;  // in config.json
  std::string_view root_type;   // the class of the bare model
  InputKind input = InputKind::kTokens;
  bool generates = false;
  // Builds the model into the graph and returns what comes out. Reads the configuration first, and
  // stops where that has an error.
  BareModel (*build)(Graph& graph, Config& config);
};
const std::vector<Family>& Families();
const Family* FindFamily(std::string_view model_type);

BareModel BuildBert(Graph& graph, Config& config);
BareModel BuildRoberta(Graph& graph, Config& config);
BareModel BuildXlmRoberta(Graph& graph, Config& config);
BareModel BuildDistilBert(Graph& graph, Config& config);
BareModel BuildAlbert(Graph& graph, Config& config);
BareModel BuildOpenAiGpt(Graph& graph, Config& config);
BareModel BuildGpt2(Graph& graph, Config& config);
BareModel BuildCtrl(Graph& graph, Config& config);
BareModel BuildT5(Graph& graph, Config& config);
BareModel BuildBart(Graph& graph, Config& config);
BareModel BuildVit(Graph& graph, Config& config);
BareModel BuildLlama(Graph& graph, Config& config);
BareModel BuildMistral(Graph& graph, Config& config);
BareModel BuildMixtral(Graph& graph, Config& config);
BareModel BuildQwen2(Graph& graph, Config& config);
BareModel BuildQwen3(Graph& graph, Config& config);
BareModel BuildGemma(Graph& graph, Config& config);
BareModel BuildGemma2(Graph& graph, Config& config);
BareModel BuildPhi(Graph& graph, Config& config);
BareModel BuildPhi3(Graph& graph, Config& config);
BareModel BuildGptNeox(Graph& graph, Config& config);

// --- What several families have.

// "layer.3": lists of modules have no node of their own.
std::string Numbered(std::string_view list, int64_t index);

// Layers, heads and the like as the configuration has them; checked against each other.
struct Sizes {
  int64_t vocab = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t positions = 0;
};
// How many layers are described at most; more is a mistake.
int64_t ReadLayers(Config& config, Keys keys, int64_t otherwise);
void RequireHeads(Config& config, std::string_view heads_key, const Sizes& sizes);
// That all tokens of the pass have a position.
void RequirePositions(Config& config, std::string_view key, const Pass& pass, int64_t positions);
std::string ReadActivation(Config& config, Keys keys, const std::string& otherwise);
// That heads can be shared out over the GPUs.
void RequireGpus(Config& config, std::string_view key, const Pass& pass, int64_t heads);

// Layers that attend to another model's output are not described here.
void RequireNoCrossAttention(Config& config);

}  // namespace beryl::models
