#include "models/bert.h"

#include "models/attention.h"

namespace beryl::models {
namespace {

// The position of each token; padding has none.
Tensor Positions(Graph& graph, const Tensor& ids) {
  const Tensor counted = graph.Elementwise("to", {graph.Elementwise("ne", {ids}, ids)}, ids);
  Tensor places = graph.Elementwise("cumsum", {counted}, ids);
  places = graph.Elementwise("to", {places}, ids);
  places = graph.Elementwise("mul", {places}, ids);
  graph.AlsoReads(counted);
  places = graph.Elementwise("to", {places}, ids);
  return graph.Elementwise("add", {places}, ids);
}

Tensor Embeddings(Graph& graph, const BertParts& parts, const Tensor& type_ids) {
  const Pass& pass = graph.pass();
  const Tensor ids = graph.Ids({pass.batch, pass.tokens});
  return graph.Module("embeddings", parts.prefix + "Embeddings", ids, [&] {
    Tensor positions = graph.Ids({int64_t{1}, pass.tokens});
    if (parts.position_a_token) {
      positions = Positions(graph, ids);
    } else {
      graph.Views(2, ids);
    }
    Tensor x = graph.WordEmbedding("word_embeddings", ids, parts.sizes.vocab, parts.sizes.hidden);
    x = graph.Add(
        x, graph.Embedding("token_type_embeddings", type_ids, parts.types, parts.sizes.hidden));
    x = graph.Add(x, graph.Embedding("position_embeddings", positions, parts.sizes.positions,
                                     parts.sizes.hidden));
    x = graph.LayerNorm("LayerNorm", x);
    graph.Dropout("dropout", x);
    return x;
  });
}

Tensor SelfAttention(Graph& graph, const BertParts& parts, const Tensor& mask, const Tensor& x) {
  return graph.Module("self", parts.prefix + "SelfAttention", x, [&] {
    const LinearOptions split = {.split = Split::kColumns};
    const Tensor q = graph.Linear("query", x, parts.sizes.hidden, split);
    const Tensor k = graph.Linear("key", x, parts.sizes.hidden, split);
    const Tensor v = graph.Linear("value", x, parts.sizes.hidden, split);
    graph.AttentionDropout("dropout", x);
    return Attend(graph, q, k, v,
                  {.heads = parts.sizes.heads,
                   .kv_heads = parts.sizes.heads,
                   .head_dim = parts.sizes.hidden / parts.sizes.heads,
                   .mask = AttentionOptions::Mask::kPadding,
                   .mask_made = mask});
  });
}

// Projects back to the hidden size, adds the residual and normalises.
Tensor Output(Graph& graph, const std::string& type, const Tensor& inner, const Tensor& residual) {
  return graph.Module("output", type, inner, [&] {
    const Tensor x = graph.Linear("dense", inner, residual.Last(), {.split = Split::kRows});
    graph.Dropout("dropout", x);
    return graph.LayerNorm("LayerNorm", graph.Add(x, residual));
  });
}

Tensor Layer(Graph& graph, const BertParts& parts, int64_t index, const Tensor& mask,
             const Tensor& x) {
  return graph.Module(Numbered("layer", index), parts.prefix + "Layer", x, [&] {
    const Tensor attended = graph.Module("attention", parts.prefix + "Attention", x, [&] {
      return Output(graph, parts.prefix + "SelfOutput", SelfAttention(graph, parts, mask, x), x);
    });
    const Tensor inner = graph.Module("intermediate", parts.prefix + "Intermediate", x, [&] {
      const Tensor wide =
          graph.Linear("dense", attended, parts.sizes.intermediate, {.split = Split::kColumns});
      return graph.Act("intermediate_act_fn", parts.activation, wide);
    });
    return Output(graph, parts.prefix + "Output", inner, attended);
  });
}

}  // namespace

BertParts ReadBert(Config& config, std::string prefix) {
  BertParts parts;
  parts.prefix = std::move(prefix);
  parts.sizes.vocab = config.Int({"vocab_size"}, 30522);
  parts.sizes.hidden = config.Int({"hidden_size"}, 768);
  parts.sizes.layers = ReadLayers(config, {"num_hidden_layers"}, 12);
  parts.sizes.heads = config.Int({"num_attention_heads"}, 12);
  parts.sizes.intermediate = config.Int({"intermediate_size"}, 3072);
  parts.sizes.positions = config.Int({"max_position_embeddings"}, 512);
  parts.types = config.Int({"type_vocab_size"}, 2);
  parts.activation = ReadActivation(config, {"hidden_act"}, "gelu");
  RequireHeads(config, "num_attention_heads", parts.sizes);
  RequireNoCrossAttention(config);
  return parts;
}

BareModel BuildBertParts(Graph& graph, const BertParts& parts) {
  const Pass& pass = graph.pass();
  Tensor mask = graph.Activation({pass.batch, 1, 1, pass.tokens});
  mask = graph.Elementwise("ones", {}, mask, 0);
  const Tensor types = graph.Elementwise("zeros", {}, graph.Ids({pass.batch, pass.tokens}), 0);
  mask = graph.Elementwise("rsub", {mask}, mask);
  mask = graph.Elementwise("mul", {mask}, mask);
  graph.Views(4, mask);
  Tensor x = Embeddings(graph, parts, types);
  x = graph.Module("encoder", parts.prefix + "Encoder", x, [&] {
    for (int64_t i = 0; i < parts.sizes.layers; ++i) x = Layer(graph, parts, i, mask, x);
    return x;
  });
  BareModel model = {.hidden = x, .vocab = parts.sizes.vocab, .activation = parts.activation};
  if (!pass.pooler) return model;
  model.pooled = graph.Module("pooler", parts.prefix + "Pooler", x, [&] {
    const Tensor first = graph.Activation({pass.batch, parts.sizes.hidden}).Of(x);
    graph.Views(2, first);
    return graph.Tanh("activation", graph.Linear("dense", first, parts.sizes.hidden));
  });
  return model;
}

BareModel BuildBert(Graph& graph, Config& config) {
  const BertParts parts = ReadBert(config, "Bert");
  RequirePositions(config, "max_position_embeddings", graph.pass(), parts.sizes.positions);
  RequireGpus(config, "num_attention_heads", graph.pass(), parts.sizes.heads);
  return config.error() ? BareModel{} : BuildBertParts(graph, parts);
}

}  // namespace beryl::models
