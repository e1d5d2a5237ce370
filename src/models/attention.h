// Attention: from queries, keys and values to what each token takes from the others, in the
// operations that the chosen implementation has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/graph.h"

namespace beryl::models {

// The angles that rotary embeddings turn by, for all layers.
struct RotaryAngles {
  Tensor cosines;
  Tensor sines;
};

struct AttentionOptions {
  int64_t heads = 1;
  int64_t kv_heads = 1;  // fewer than heads: each serves several
  int64_t head_dim = 64;
  int64_t rotary_dim = 0;  // of each head, turned by its position; 0: no rotary embedding
  RotaryAngles angles = {};
  // How scores that must not count are kept out; the code of 2021 has its ways.
  enum class Mask : uint8_t {
    kNone,
    kPadding,  // one row a sequence is added
    kCausal,   // a matrix a sequence is added
    kFill,     // filled in where a padding row says so (DistilBERT)
    kChoose,   // chosen by a matrix of truth values (GPT-2)
    kWeigh,    // multiplied by a matrix of zeros and ones, and shifted (GPT)
  };
  Mask mask = Mask::kNone;
  Tensor mask_made = {};  // where it comes from, if anything made it
  enum class Scale : uint8_t { kScores, kQueries, kNone };
  Scale scale = Scale::kScores;
  bool bias = false;  // a bias for each head and pair of positions is added (T5)
  Tensor bias_made = {};
  bool softcap = false;  // scores are bounded by a tanh (Gemma 2)
  bool cache = false;    // keys and values are kept for the tokens to come
  bool aside = false;    // kept in one stack beside what attention runs on (GPT-2 in 2021)
  std::optional<int64_t> window = {};  // tokens that are looked back at, at most
  // What is attended to lies in the cache already, all `memory` tokens of it: nothing is appended.
  std::optional<int64_t> memory = {};
};

// q: [batch, tokens, heads x head_dim], k and v: [batch, new tokens, kv_heads x head_dim]. What
// comes out has the shape of q.
[[nodiscard]] Tensor Attend(Graph& graph, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionOptions& options);

// The keys and values that x attends to: its own, or those of a memory. Of a memory that is in the
// cache nothing is computed. `options` are told what follows from that.
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

// Keys that each query of this pass sees.
int64_t KeysSeen(const Pass& pass, int64_t new_keys, const AttentionOptions& options);

// The table of angles that rotary embeddings take, made once a pass.
[[nodiscard]] RotaryAngles RotaryTable(Graph& graph, std::string_view type, int64_t rotary_dim);
// The causal mask, made once a pass; flash attention needs none.
[[nodiscard]] Tensor CausalMask(Graph& graph, int64_t tokens, int64_t keys);

}  // namespace beryl::models
