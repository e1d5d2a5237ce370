#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {
namespace {

Tensor Attention(Graph& graph, const Sizes& sizes, const Tensor& mask, const Tensor& x) {
  return graph.Module("attention", "DistilBertSelfAttention", x, [&] {
    const LinearOptions split = {.split = Split::kColumns};
    const Tensor q = graph.Linear("q_lin", x, sizes.hidden, split);
    const Tensor k = graph.Linear("k_lin", x, sizes.hidden, split);
    const Tensor v = graph.Linear("v_lin", x, sizes.hidden, split);
    graph.AttentionDropout("dropout", x);
    const Tensor context = Attend(graph, q, k, v,
                                  {.heads = sizes.heads,
                                   .kv_heads = sizes.heads,
                                   .head_dim = sizes.hidden / sizes.heads,
                                   .mask = AttentionOptions::Mask::kFill,
                                   .mask_made = mask,
                                   .scale = AttentionOptions::Scale::kQueries});
    return graph.Linear("out_lin", context, sizes.hidden, {.split = Split::kRows});
  });
}

Tensor Layer(Graph& graph, const Sizes& sizes, const std::string& activation, int64_t index,
             const Tensor& mask, const Tensor& input) {
  return graph.Module(Numbered("layer", index), "TransformerBlock", input, [&] {
    Tensor y = Attention(graph, sizes, mask, input);
    const Tensor x = graph.LayerNorm("sa_layer_norm", graph.Add(y, input));
    y = graph.Module("ffn", "FFN", x, [&] {
      y = FeedForward(graph, {"lin1", "activation", "lin2"}, sizes, activation, x);
      graph.Dropout("dropout", y);
      return y;
    });
    return graph.LayerNorm("output_layer_norm", graph.Add(y, x));
  });
}

}  // namespace

BareModel BuildDistilBert(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes;
  sizes.vocab = config.Int({"vocab_size"}, 30522);
  sizes.hidden = config.Int({"dim", "hidden_size"}, 768);
  sizes.layers = ReadLayers(config, {"n_layers", "num_hidden_layers"}, 6);
  sizes.heads = config.Int({"n_heads", "num_attention_heads"}, 12);
  sizes.intermediate = config.Int({"hidden_dim"}, 3072);
  sizes.positions = config.Int({"max_position_embeddings"}, 512);
  const std::string activation = ReadActivation(config, {"activation"}, "gelu");
  RequireHeads(config, "n_heads", sizes);
  RequirePositions(config, "max_position_embeddings", pass, sizes.positions);
  RequireGpus(config, "n_heads", pass, sizes.heads);
  if (config.error()) return {};

  const Tensor ids = graph.Ids({pass.batch, pass.tokens});
  const Tensor mask = graph.Elementwise("ones", {}, graph.Activation({pass.batch, pass.tokens}), 0);
  Tensor x = graph.Module("embeddings", "Embeddings", ids, [&] {
    const Tensor range = graph.Elementwise("arange", {}, graph.Ids({pass.tokens}), 0);
    graph.Views(2, ids);
    const Tensor words = graph.WordEmbedding("word_embeddings", ids, sizes.vocab, sizes.hidden);
    const Tensor places =
        graph.Embedding("position_embeddings", ids.Of(range), sizes.positions, sizes.hidden);
    const Tensor y = graph.LayerNorm("LayerNorm", graph.Add(words, places));
    graph.Dropout("dropout", y);
    return y;
  });
  x = graph.Module("transformer", "Transformer", x, [&] {
    for (int64_t i = 0; i < sizes.layers; ++i) x = Layer(graph, sizes, activation, i, mask, x);
    return x;
  });
  return {.hidden = x, .vocab = sizes.vocab, .activation = activation};
}

}  // namespace beryl::models
