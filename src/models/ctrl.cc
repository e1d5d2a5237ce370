#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {

BareModel BuildCtrl(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes;
  sizes.vocab = config.Int({"vocab_size"}, 246534);
  sizes.hidden = config.Int({"n_embd", "hidden_size"}, 1280);
  sizes.layers = ReadLayers(config, {"n_layer", "num_hidden_layers"}, 48);
  sizes.heads = config.Int({"n_head", "num_attention_heads"}, 16);
  sizes.intermediate = config.Int({"dff"}, 8192);
  sizes.positions = config.Int({"n_positions", "max_position_embeddings"}, 256);
  const bool tied = config.Bool({"tie_word_embeddings"}, true);
  RequireHeads(config, "n_head", sizes);
  RequirePositions(config, "n_positions", pass, sizes.positions);
  RequireGpus(config, "n_head", pass, sizes.heads);
  if (config.error()) return {};
  AttentionOptions options = {.heads = sizes.heads,
                              .kv_heads = sizes.heads,
                              .head_dim = sizes.hidden / sizes.heads,
                              .mask = AttentionOptions::Mask::kCausal,
                              .cache = true};

  Tensor x =
      graph.WordEmbedding("w", graph.Ids({pass.batch, pass.tokens}), sizes.vocab, sizes.hidden);
  options.mask_made = CausalMask(graph, pass.tokens, KeysSeen(pass, pass.tokens, options));
  x = graph.Scale(x);
  // Positions are a table of sines, not a parameter.
  const Tensor places = graph.Copy("index", graph.Activation({1, pass.tokens, sizes.hidden}));
  x = graph.Add(x, places);
  x = graph.Elementwise("add", {x}, x);
  graph.Dropout("dropout", x);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("h", i), "EncoderLayer", x, [&] {
      Tensor y = graph.LayerNorm("layernorm1", x);
      y = graph.Module("multi_head_attention", "MultiHeadAttention", y, [&] {
        const LinearOptions split = {.split = Split::kColumns};
        const Tensor q = graph.Linear("Wq", y, sizes.hidden, split);
        const Tensor k = graph.Linear("Wk", y, sizes.hidden, split);
        const Tensor v = graph.Linear("Wv", y, sizes.hidden, split);
        return graph.Linear("dense", Attend(graph, q, k, v, options), sizes.hidden,
                            {.split = Split::kRows});
      });
      graph.Dropout("dropout1", y);
      x = graph.Add(x, y);
      y = graph.LayerNorm("layernorm2", x);
      y = graph.Module("ffn", "Sequential", y, [&] {
        return FeedForward(graph, {"0", "1", "2"}, sizes, "relu", y);
      });
      graph.Dropout("dropout2", y);
      return graph.Add(x, y);
    });
  }
  x = graph.LayerNorm("layernorm", x);
  return {.hidden = x, .vocab = sizes.vocab, .tied = tied};
}

}  // namespace beryl::models
