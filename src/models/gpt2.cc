#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {
namespace {

constexpr std::string_view kConv1D = "Conv1D";

// Queries, keys and values come from one projection; they are views of its output.
Tensor Attention(Graph& graph, const Sizes& sizes, const std::string& type,
                 const AttentionOptions& options, const Tensor& x) {
  return graph.Module("attn", type, x, [&] {
    const Tensor qkv =
        graph.Linear("c_attn", x, 3 * sizes.hidden, {.split = Split::kColumns, .type = kConv1D});
    const Tensor part = qkv.WithLast(sizes.hidden);
    graph.AttentionDropout("attn_dropout", x);
    const Tensor context = Attend(graph, part, part, part, options);
    const Tensor y =
        graph.Linear("c_proj", context, sizes.hidden, {.split = Split::kRows, .type = kConv1D});
    graph.Dropout("resid_dropout", y);
    return y;
  });
}

Tensor Mlp(Graph& graph, const Sizes& sizes, const std::string& type, const std::string& activation,
           bool own_activation, const Tensor& x) {
  return graph.Module("mlp", type, x, [&] {
    Tensor y =
        graph.Linear("c_fc", x, sizes.intermediate, {.split = Split::kColumns, .type = kConv1D});
    y = own_activation ? graph.Act("act", activation, y) : graph.Act(activation, y);
    y = graph.Linear("c_proj", y, sizes.hidden, {.split = Split::kRows, .type = kConv1D});
    graph.Dropout("dropout", y);
    return y;
  });
}

Sizes ReadGpt(Config& config, const Pass& pass, int64_t vocab, int64_t positions) {
  Sizes sizes;
  sizes.vocab = config.Int({"vocab_size"}, vocab);
  sizes.hidden = config.Int({"n_embd", "hidden_size"}, 768);
  sizes.layers = ReadLayers(config, {"n_layer", "num_hidden_layers"}, 12);
  sizes.heads = config.Int({"n_head", "num_attention_heads"}, 12);
  sizes.positions = config.Int({"n_positions", "max_position_embeddings"}, positions);
  sizes.intermediate = 4 * sizes.hidden;
  RequireHeads(config, "n_head", sizes);
  RequireNoCrossAttention(config);
  RequirePositions(config, "n_positions", pass, sizes.positions);
  RequireGpus(config, "n_head", pass, sizes.heads);
  return sizes;
}

AttentionOptions OptionsOf(const Sizes& sizes, AttentionOptions::Mask mask) {
  return {.heads = sizes.heads,
          .kv_heads = sizes.heads,
          .head_dim = sizes.hidden / sizes.heads,
          .mask = mask};
}

}  // namespace

BareModel BuildGpt2(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  Sizes sizes = ReadGpt(config, pass, 50257, 1024);
  sizes.intermediate = config.Int({"n_inner"}, sizes.intermediate);
  const std::string activation = ReadActivation(config, {"activation_function"}, "gelu_new");
  const bool tied = config.Bool({"tie_word_embeddings"}, true);
  if (config.error()) return {};
  AttentionOptions options = OptionsOf(sizes, AttentionOptions::Mask::kChoose);
  options.aside = pass.attention == AttentionKind::kEager;
  options.cache = true;

  Tensor x =
      graph.WordEmbedding("wte", graph.Ids({pass.batch, pass.tokens}), sizes.vocab, sizes.hidden);
  x = graph.Add(x, graph.Embedding("wpe", graph.Ids({int64_t{1}, pass.tokens}), sizes.positions,
                                   sizes.hidden));
  graph.Dropout("drop", x);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("h", i), "GPT2Block", x, [&] {
      Tensor y = graph.LayerNorm("ln_1", x);
      x = graph.Add(Attention(graph, sizes, "GPT2Attention", options, y), x);
      y = graph.LayerNorm("ln_2", x);
      return graph.Add(Mlp(graph, sizes, "GPT2MLP", activation, true, y), x);
    });
  }
  x = graph.LayerNorm("ln_f", x);
  return {.hidden = x, .vocab = sizes.vocab, .tied = tied};
}

// The first GPT: norms after each part instead of before, and no cache.
BareModel BuildOpenAiGpt(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  const Sizes sizes = ReadGpt(config, pass, 40478, 512);
  // Its code calls gelu what others call gelu_new.
  std::string activation = config.Text({"afn"}, "gelu");
  config.Require(
      activation == "gelu" || activation == "relu" || activation == "silu" || activation == "swish",
      "afn", "must be gelu, relu, silu or swish");
  if (activation == "gelu") activation = "gelu_new";
  if (config.error()) return {};
  const AttentionOptions options = OptionsOf(sizes, AttentionOptions::Mask::kWeigh);

  Tensor x = graph.WordEmbedding("tokens_embed", graph.Ids({pass.batch, pass.tokens}), sizes.vocab,
                                 sizes.hidden);
  x = graph.Add(x, graph.Embedding("positions_embed", graph.Ids({int64_t{1}, pass.tokens}),
                                   sizes.positions, sizes.hidden));
  x = graph.Elementwise("add", {x}, x);  // token types, of which there are none
  graph.Dropout("drop", x);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = graph.Module(Numbered("h", i), "Block", x, [&] {
      x = graph.Add(Attention(graph, sizes, "Attention", options, x), x);
      x = graph.LayerNorm("ln_1", x);
      // All layers share one activation module, with the scope of the first.
      x = graph.Add(Mlp(graph, sizes, "MLP", activation, i == 0, x), x);
      return graph.LayerNorm("ln_2", x);
    });
  }
  return {.hidden = x, .vocab = sizes.vocab};
}

}  // namespace beryl::models
