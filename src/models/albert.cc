#include <fmt/format.h>

#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {
namespace {

Tensor Attention(Graph& graph, const Sizes& sizes, const Tensor& x) {
  return graph.Module("attention", "AlbertAttention", x, [&] {
    const LinearOptions split = {.split = Split::kColumns};
    const Tensor q = graph.Linear("query", x, sizes.hidden, split);
    const Tensor k = graph.Linear("key", x, sizes.hidden, split);
    const Tensor v = graph.Linear("value", x, sizes.hidden, split);
    graph.AttentionDropout("attention_dropout", x);
    const Tensor context = Attend(graph, q, k, v,
                                  {.heads = sizes.heads,
                                   .kv_heads = sizes.heads,
                                   .head_dim = sizes.hidden / sizes.heads,
                                   .mask = AttentionOptions::Mask::kPadding});
    const Tensor y = graph.Linear("dense", context, sizes.hidden, {.split = Split::kRows});
    graph.Dropout("output_dropout", y);
    return graph.LayerNorm("LayerNorm", graph.Add(y, x));
  });
}

Tensor Layer(Graph& graph, const Sizes& sizes, const std::string& activation, int64_t index,
             const Tensor& input) {
  return graph.Module(Numbered("albert_layers", index), "AlbertLayer", input, [&] {
    const Tensor x = Attention(graph, sizes, input);
    const Tensor y = FeedForward(graph, {"ffn", "activation", "ffn_output"}, sizes, activation, x);
    graph.Dropout("dropout", y);
    return graph.LayerNorm("full_layer_layer_norm", graph.Add(y, x));
  });
}

}  // namespace

// Groups of layers that share their weights: each is stored once and runs as often as the model has
// layers in its group.
BareModel BuildAlbert(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes;
  sizes.vocab = config.Int({"vocab_size"}, 30000);
  const int64_t embedding = config.Int({"embedding_size"}, 128);
  sizes.hidden = config.Int({"hidden_size"}, 4096);
  sizes.layers = ReadLayers(config, {"num_hidden_layers"}, 12);
  const int64_t groups = config.Int({"num_hidden_groups"}, 1);
  const int64_t inner = config.Int({"inner_group_num"}, 1);
  sizes.heads = config.Int({"num_attention_heads"}, 64);
  sizes.intermediate = config.Int({"intermediate_size"}, 16384);
  sizes.positions = config.Int({"max_position_embeddings"}, 512);
  const int64_t types = config.Int({"type_vocab_size"}, 2);
  const std::string activation = ReadActivation(config, {"hidden_act"}, "gelu_new");
  RequireHeads(config, "num_attention_heads", sizes);
  RequirePositions(config, "max_position_embeddings", pass, sizes.positions);
  RequireGpus(config, "num_attention_heads", pass, sizes.heads);
  config.Require(groups <= sizes.layers, "num_hidden_groups",
                 fmt::format("there are only {} layers", sizes.layers));
  config.Require(inner <= 64 && groups * inner <= 4096, "inner_group_num",
                 "more than 64 per group, or 4096 in all, are not supported");
  if (config.error()) return {};

  const Tensor ids = graph.Ids({pass.batch, pass.tokens});
  const Tensor words = graph.Module("embeddings", "AlbertEmbeddings", ids, [&] {
    Tensor y = graph.WordEmbedding("word_embeddings", ids, sizes.vocab, embedding);
    y = graph.Add(y, graph.Embedding("token_type_embeddings", ids, types, embedding));
    y = graph.Add(y, graph.Embedding("position_embeddings", graph.Ids({int64_t{1}, pass.tokens}),
                                     sizes.positions, embedding));
    y = graph.LayerNorm("LayerNorm", y);
    graph.Dropout("dropout", y);
    return y;
  });
  const Tensor x = graph.Module("encoder", "AlbertTransformer", words, [&] {
    Tensor y = graph.Linear("embedding_hidden_mapping_in", words, sizes.hidden);
    for (int64_t group = 0; group < groups; ++group) {
      // Layer i belongs to group i / (layers / groups), computed in fractions.
      int64_t runs = 0;
      for (int64_t i = 0; i < sizes.layers; ++i) runs += i * groups / sizes.layers == group;
      graph.Repeat(static_cast<double>(runs), [&] {
        y = graph.Module(Numbered("albert_layer_groups", group), "AlbertLayerGroup", y, [&] {
          for (int64_t i = 0; i < inner; ++i) y = Layer(graph, sizes, activation, i, y);
          return y;
        });
      });
    }
    return y;
  });
  BareModel model = {
      .hidden = x, .vocab = sizes.vocab, .word_size = embedding, .activation = activation};
  if (!pass.pooler) return model;
  const Tensor first = graph.Activation({pass.batch, sizes.hidden}).Of(x);
  model.pooled = graph.Tanh("pooler_activation", graph.Linear("pooler", first, sizes.hidden));
  return model;
}

}  // namespace beryl::models
