#include <fmt/format.h>

#include "models/attention.h"
#include "models/decoder.h"

namespace beryl::models {

// Attention and feed-forward in parallel on one norm; a part of each head is rotated by position.
BareModel BuildPhi(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  const DecoderParts parts = ReadDecoder(config, pass, "Phi",
                                         {.vocab = 51200,
                                          .hidden = 2048,
                                          .layers = 24,
                                          .heads = 32,
                                          .intermediate = 8192,
                                          .activation = "gelu_new"});
  const double turned =
      config.Number({"rope_parameters.partial_rotary_factor", "partial_rotary_factor"}, 0.5);
  const bool qk_norm = config.Bool({"qk_layernorm"}, false);
  config.Require(turned > 0 && turned <= 1, "partial_rotary_factor",
                 "must be above 0 and at most 1");
  if (config.error()) return {};
  const Sizes& sizes = parts.sizes;
  const auto rotary = static_cast<int64_t>(static_cast<double>(parts.head_dim) * turned);
  AttentionOptions options = {.heads = sizes.heads,
                              .kv_heads = parts.kv_heads,
                              .head_dim = parts.head_dim,
                              .rotary_dim = rotary,
                              .mask = AttentionOptions::Mask::kCausal,
                              .cache = true};

  Tensor x = graph.WordEmbedding("embed_tokens", graph.Ids({pass.batch, pass.tokens}), sizes.vocab,
                                 sizes.hidden);
  options.mask_made = CausalMask(graph, pass.tokens, pass.cached + pass.tokens);
  graph.Dropout("embed_dropout", x);
  options.angles = RotaryTable(graph, "PhiRotaryEmbedding", rotary);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("layers", i), "PhiDecoderLayer", x, [&] {
      const Tensor normed = graph.LayerNorm("input_layernorm", x);
      const Tensor attended = graph.Module("self_attn", "PhiAttention", normed, [&] {
        const LinearOptions split = {.split = Split::kColumns};
        Tensor q = graph.Linear("q_proj", normed, sizes.heads * parts.head_dim, split);
        Tensor k = graph.Linear("k_proj", normed, parts.kv_heads * parts.head_dim, split);
        const Tensor v = graph.Linear("v_proj", normed, parts.kv_heads * parts.head_dim, split);
        if (qk_norm) {
          const Tensor head =
              graph.Activation({pass.batch, pass.tokens, sizes.heads, parts.head_dim});
          q = q.Of(graph.LayerNorm("q_layernorm", head.Of(q)));
          k = k.Of(graph.LayerNorm("k_layernorm", head.Of(k)));
        }
        return graph.Linear("dense", Attend(graph, q, k, v, options), sizes.hidden,
                            {.split = Split::kRows});
      });
      graph.Dropout("resid_dropout", attended);
      const Tensor y = graph.Module("mlp", "PhiMLP", normed, [&] {
        return FeedForward(graph, {"fc1", "activation_fn", "fc2"}, sizes, parts.activation, normed);
      });
      return graph.Add(graph.Add(attended, y), x);
    });
  }
  x = graph.LayerNorm("final_layernorm", x);
  return {.hidden = x, .vocab = sizes.vocab, .tied = parts.tied};
}

BareModel BuildPhi3(Graph& graph, Config& config) {
  DecoderParts parts = ReadDecoder(config, graph.pass(), "Phi3",
                                   {.vocab = 32064, .hidden = 3072, .intermediate = 8192});
  parts.fused = true;
  SetWindow(parts, config.MaybeInt({"sliding_window"}, std::nullopt));
  return config.error() ? BareModel{} : BuildDecoder(graph, parts);
}

}  // namespace beryl::models
