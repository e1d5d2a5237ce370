// The decoder that most of today's language models are: norms before each part, rotary positions,
// grouped keys and values, gated feed-forward. Families differ in what is set here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/families.h"

namespace beryl::models {

struct DecoderParts {
  std::string prefix;  // of its classes: "Llama"
  Sizes sizes;
  int64_t kv_heads = 1;
  int64_t head_dim = 64;
  std::string activation;
  bool tied = false;      // the head is the embedding's table
  bool qkv_bias = false;  // in the projections to queries, keys and values
  bool out_bias = false;  // in the projection back
  bool mlp_bias = false;
  bool qk_norm = false;   // queries and keys are normalised, head by head (Qwen 3)
  bool fused = false;     // one matrix for queries, keys and values, one for gate and up (Phi 3)
  bool gemma = false;     // the embedding is scaled, norms have 1 added to their weight
  bool sandwich = false;  // norms behind each part too (Gemma 2)
  bool softcap = false;   // attention scores are bounded (Gemma 2)
  int64_t experts = 0;    // feed-forward networks to choose from; 0: there is but one
  int64_t experts_a_token = 0;
  std::vector<std::optional<int64_t>> windows;  // by layer; empty: all see everything
};

struct DecoderDefaults {
  int64_t vocab = 32000;
  int64_t hidden = 4096;
  int64_t layers = 32;
  int64_t heads = 32;
  std::optional<int64_t> kv_heads = {};  // nothing: as many as heads
  std::optional<int64_t> head_dim = {};  // nothing: hidden / heads
  int64_t intermediate = 11008;
  std::string activation = "silu";
  bool tied = false;
};

// The keys that all of them have, checked against each other and against the pass.
DecoderParts ReadDecoder(Config& config, const Pass& pass, std::string prefix,
                         const DecoderDefaults& defaults, Keys activation_keys = {"hidden_act"});
// One window for all layers; nothing: none.
void SetWindow(DecoderParts& parts, std::optional<int64_t> window);
// A window for the layers that "layer_types" calls sliding; where it says nothing, `is_sliding`
// tells.
void SetWindows(Config& config, DecoderParts& parts, std::optional<int64_t> window,
                bool (*is_sliding)(int64_t layer, int64_t from), int64_t from);

BareModel BuildDecoder(Graph& graph, const DecoderParts& parts);

}  // namespace beryl::models
