// The families of models: one file each, which reads like the model, and a table of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/config.h"
#include "models/graph.h"

namespace beryl::models {

enum class InputKind : uint8_t { kTokens, kTokensBothWays, kImage };

// The output of a family's model that heads build on.
struct BareModel {
  Tensor hidden = {};  // output of the last layer, for all tokens
  Tensor pooled = {};  // output of the pooler; rank 0 if there is none
  int64_t vocab = 0;
  int64_t word_size = 0;  // row size of the word table, if not the hidden size (ALBERT)
  std::string activation = {};
  bool tied = true;  // the language model's head shares the word table
};

// The keys of the probabilities that hidden states and attention scores are dropped with, and the
// library's defaults. Without others they are those of current decoders.
struct DropoutKeys {
  std::string_view hidden = "resid_pdrop";
  double hidden_default = 0;
  std::string_view attention = "attention_dropout";
  double attention_default = 0;
};

struct Family {
  std::string_view model_type;  // in config.json
  std::string_view root_type;   // the class of the bare model
  std::string_view lineage;     // the models that it descends from: "BERT"
  InputKind input = InputKind::kTokens;
  bool generates = false;
  // Builds the model into the graph and returns its output. Reads the configuration first and stops
  // if it has an error.
  BareModel (*build)(Graph& graph, Config& config);
  std::string_view heads_of;  // the model_type of the family whose heads this one has
  DropoutKeys dropouts;
};
const std::vector<Family>& Families();
const Family* FindFamily(std::string_view model_type);

#define BERYL_FAMILY(type, root, lineage, input, generates, build, ...) \
  BareModel build(Graph& graph, Config& config);
#include "models/family_table.inc"
#undef BERYL_FAMILY

// --- Shared by several families.

// "layer.3": lists of modules have no node of their own.
std::string Numbered(std::string_view list, int64_t index);

// Layers, heads and similar sizes in the configuration, checked against each other.
struct Sizes {
  int64_t vocab = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t intermediate = 0;
  int64_t positions = 0;
};
// A linear layer to the intermediate size, an activation, and one back to the hidden size.
Tensor FeedForward(Graph& graph, const std::array<const char*, 3>& names, const Sizes& sizes,
                   std::string_view activation, const Tensor& x);
// The number of layers. Too many to describe is an error.
int64_t ReadLayers(Config& config, Keys keys, int64_t otherwise);
void RequireHeads(Config& config, std::string_view heads_key, const Sizes& sizes);
// Requires a position for every token of the pass.
void RequirePositions(Config& config, std::string_view key, const Pass& pass, int64_t positions);
std::string ReadActivation(Config& config, Keys keys, const std::string& otherwise);
// Requires that heads can be divided among the GPUs.
void RequireGpus(Config& config, std::string_view key, const Pass& pass, int64_t heads);

// Refuses layers that attend to another model's output; they are not described.
void RequireNoCrossAttention(Config& config);

}  // namespace beryl::models
