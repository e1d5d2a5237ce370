// The decoder of most current language models: norms before each part, rotary positions, grouped
// keys and values, gated feed-forward. Families set the fields below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/families.h"

namespace beryl::models {

struct DecoderParts {
  std::string prefix;  // of its class names: "Llama"
  Sizes sizes;
  int64_t kv_heads = 1;
  int64_t head_dim = 64;
  std::string activation;
  bool tied = false;      // the head uses the table of the embedding
  bool qkv_bias = false;  // in the projections to queries, keys and values
  bool out_bias = false;  // in the output projection
  bool mlp_bias = false;
  bool qk_norm = false;   // queries and keys are normalised per head (Qwen 3)
  bool fused = false;     // one matrix for queries, keys and values, one for gate and up (Phi 3)
  bool gemma = false;     // the embedding is scaled, norms have 1 added to their weight
  bool sandwich = false;  // norms also after each part (Gemma 2)
  bool softcap = false;   // attention scores are bounded (Gemma 2)
  int64_t experts = 0;    // feed-forward networks to choose from; 0: a single one
  int64_t experts_a_token = 0;
  std::vector<std::optional<int64_t>> windows;  // by layer; empty: every layer sees all tokens
};

struct DecoderDefaults {
  int64_t vocab = 32000;
  int64_t hidden = 4096;
  int64_t layers = 32;
  int64_t heads = 32;
  std::optional<int64_t> kv_heads = {};  // empty: as many as heads
  std::optional<int64_t> head_dim = {};  // empty: hidden / heads
  int64_t intermediate = 11008;
  std::string activation = "silu";
  bool tied = false;
};

// Reads the keys common to all of them and checks them against each other and the pass.
DecoderParts ReadDecoder(Config& config, const Pass& pass, std::string prefix,
                         const DecoderDefaults& defaults, Keys activation_keys = {"hidden_act"});
// One window for all layers; empty: none.
void SetWindow(DecoderParts& parts, std::optional<int64_t> window);
// A window for the layers that "layer_types" calls sliding; if that key is missing, `is_sliding`
// decides.
void SetWindows(Config& config, DecoderParts& parts, std::optional<int64_t> window,
                bool (*is_sliding)(int64_t layer, int64_t from), int64_t from);

BareModel BuildDecoder(Graph& graph, const DecoderParts& parts);

}  // namespace beryl::models
