// Attention: from queries, keys and values to the output of each token, with the operations of the
// chosen implementation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/graph.h"

namespace beryl::models {

// The angles of rotary embeddings, for all layers.
struct RotaryAngles {
  Tensor cosines;
  Tensor sines;
};

struct AttentionOptions {
  int64_t heads = 1;
  int64_t kv_heads = 1;  // fewer than heads: several heads share each
  int64_t head_dim = 64;
  int64_t rotary_dim = 0;  // of each head, rotated by position; 0: no rotary embedding
  RotaryAngles angles = {};
  // How scores are masked. The code of 2021 has several ways.
  enum class Mask : uint8_t {
    kNone,
    kPadding,  // adds one row per sequence
    kCausal,   // adds a matrix per sequence
    kFill,     // fills in scores that a padding row selects (DistilBERT)
    kChoose,   // selects scores with a boolean matrix (GPT-2)
    kWeigh,    // multiplies by a matrix of zeros and ones, and shifts (GPT)
  };
  Mask mask = Mask::kNone;
  Tensor mask_made = {};  // the operation's output that the mask comes from, if any
  enum class Scale : uint8_t { kScores, kQueries, kNone };
  Scale scale = Scale::kScores;
  bool bias = false;  // adds a bias for each head and pair of positions (T5)
  Tensor bias_made = {};
  bool softcap = false;  // a tanh bounds the scores (Gemma 2)
  bool cache = false;    // keys and values are kept for later tokens
  bool aside = false;    // kept in one stack, separate from what attention reads (GPT-2 in 2021)
  std::optional<int64_t> window = {};  // attention looks back at most this many tokens
  // All `memory` tokens attended to are already in the cache; nothing is appended.
  std::optional<int64_t> memory = {};
};

// q: [batch, tokens, heads x head_dim], k and v: [batch, new tokens, kv_heads x head_dim]. The
// output has the shape of q.
[[nodiscard]] Tensor Attend(Graph& graph, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionOptions& options);

// The keys and values that x attends to: its own, or those of a memory. If the memory is already
// cached, nothing is computed. Updates `options` accordingly.
struct KeysAndValues {
  Tensor k;
  Tensor v;
};
struct KeyNames {
  const char* k;
  const char* v;
};
[[nodiscard]] KeysAndValues ProjectKeys(Graph& graph, const KeyNames& names, const Tensor& x,
                                        const Tensor* memory, bool decoder,
                                        const LinearOptions& linear, AttentionOptions& options);

// The number of keys that each query of this pass sees.
int64_t KeysSeen(const Pass& pass, int64_t new_keys, const AttentionOptions& options);

// The table of rotary angles, built once per pass.
[[nodiscard]] RotaryAngles RotaryTable(Graph& graph, std::string_view type, int64_t rotary_dim);
// The causal mask, built once per pass; flash attention needs none.
[[nodiscard]] Tensor CausalMask(Graph& graph, int64_t tokens, int64_t keys);

}  // namespace beryl::models
