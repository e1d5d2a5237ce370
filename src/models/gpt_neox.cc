#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {

// GPT-NeoX and Pythia: attention and feed-forward in parallel, each with its own norm, or in
// sequence.
BareModel BuildGptNeox(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes;
  sizes.vocab = config.Int({"vocab_size"}, 50432);
  sizes.hidden = config.Int({"hidden_size"}, 6144);
  sizes.layers = ReadLayers(config, {"num_hidden_layers"}, 44);
  sizes.heads = config.Int({"num_attention_heads"}, 64);
  sizes.intermediate = config.Int({"intermediate_size"}, 24576);
  const std::string activation = ReadActivation(config, {"hidden_act"}, "gelu");
  const double turned =
      config.Number({"rope_parameters.partial_rotary_factor", "rotary_pct"}, 0.25);
  const bool bias = config.Bool({"attention_bias"}, true);
  const bool parallel = config.Bool({"use_parallel_residual"}, true);
  const bool tied = config.Bool({"tie_word_embeddings"}, false);
  RequireHeads(config, "num_attention_heads", sizes);
  RequireGpus(config, "num_attention_heads", pass, sizes.heads);
  config.Require(turned > 0 && turned <= 1, "rotary_pct", "must be above 0 and at most 1");
  if (config.error()) return {};
  const int64_t head_dim = sizes.hidden / sizes.heads;
  const auto rotary = static_cast<int64_t>(static_cast<double>(head_dim) * turned);
  AttentionOptions options = {.heads = sizes.heads,
                              .kv_heads = sizes.heads,
                              .head_dim = head_dim,
                              .rotary_dim = rotary,
                              .mask = AttentionOptions::Mask::kCausal,
                              .cache = true};

  Tensor x = graph.WordEmbedding("embed_in", graph.Ids({pass.batch, pass.tokens}), sizes.vocab,
                                 sizes.hidden);
  options.mask_made = CausalMask(graph, pass.tokens, pass.cached + pass.tokens);
  graph.Dropout("emb_dropout", x);
  options.angles = RotaryTable(graph, "GPTNeoXRotaryEmbedding", rotary);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("layers", i), "GPTNeoXLayer", x, [&] {
      const Tensor first = graph.LayerNorm("input_layernorm", x);
      const Tensor attended = graph.Module("attention", "GPTNeoXAttention", first, [&] {
        const Tensor qkv = graph.Linear("query_key_value", first, 3 * sizes.hidden,
                                        {.bias = bias, .split = Split::kColumns});
        const Tensor part = qkv.WithLast(sizes.hidden);
        return graph.Linear("dense", Attend(graph, part, part, part, options), sizes.hidden,
                            {.bias = bias, .split = Split::kRows});
      });
      graph.Dropout("post_attention_dropout", attended);
      // In sequence: the first addition precedes the second norm.
      if (!parallel) x = graph.Add(attended, x);
      Tensor y = graph.LayerNorm("post_attention_layernorm", x);
      y = graph.Module("mlp", "GPTNeoXMLP", y, [&] {
        return FeedForward(graph, {"dense_h_to_4h", "act", "dense_4h_to_h"}, sizes, activation, y);
      });
      graph.Dropout("post_mlp_dropout", y);
      if (parallel) y = graph.Add(attended, y);
      return graph.Add(y, x);
    });
  }
  x = graph.LayerNorm("final_layer_norm", x);
  return {.hidden = x, .vocab = sizes.vocab, .tied = tied};
}

}  // namespace beryl::models
