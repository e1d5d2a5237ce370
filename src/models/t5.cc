#include "models/activations.h"
#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {
namespace {

struct T5Parts {
  Sizes sizes;
  int64_t decoder_layers = 6;
  int64_t head_dim = 64;
  int64_t buckets = 32;
  std::string activation;
  bool gated = false;
};

Tensor Norm(Graph& graph, const std::string& name, const Tensor& x) {
  return graph.RmsNorm(name, "T5LayerNorm", x);
}

// The bucket of distances for each pair of positions, and the bias of each bucket.
Tensor RelativeBias(Graph& graph, const T5Parts& parts, int64_t tokens, int64_t keys) {
  Tensor pairs = graph.Ids({tokens, keys});
  for (int i = 0; i < 15; ++i) pairs = graph.Elementwise("bucket", {pairs}, pairs);
  return graph.Embedding("relative_attention_bias", pairs, parts.buckets, parts.sizes.heads);
}

// Inputs of self-attention that are computed once for all layers of a stack.
struct MadeOnce {
  Tensor mask;
  Tensor bias;
};

// `memory`: attends to the encoder's output, otherwise to x. The first self-attention layer
// computes the bias.
Tensor Attention(Graph& graph, const T5Parts& parts, const std::string& name, bool decoder,
                 const Tensor* memory, bool makes_bias, MadeOnce& made, const Tensor& x) {
  const Pass& pass = graph.pass();
  const int64_t inner = parts.sizes.heads * parts.head_dim;
  return graph.Module(name, "T5Attention", x, [&] {
    const LinearOptions split = {.bias = false, .split = Split::kColumns};
    const Tensor q = graph.Linear("q", x, inner, split);
    AttentionOptions options = {.heads = parts.sizes.heads,
                                .kv_heads = parts.sizes.heads,
                                .head_dim = parts.head_dim,
                                .mask_made = made.mask,
                                .bias = true};
    const auto [k, v] = ProjectKeys(graph, {"k", "v"}, x, memory, decoder, split, options);
    if (makes_bias) {
      made.bias =
          RelativeBias(graph, parts, x.shape.dims[1], KeysSeen(pass, x.shape.dims[1], options));
    }
    options.bias_made = made.bias;
    return graph.Linear("o", Attend(graph, q, k, v, options), parts.sizes.hidden,
                        {.bias = false, .split = Split::kRows});
  });
}

Tensor FeedForward(Graph& graph, const T5Parts& parts, int64_t index, const Tensor& x) {
  return graph.Module(Numbered("layer", index), "T5LayerFF", x, [&] {
    const Tensor normed = Norm(graph, "layer_norm", x);
    const char* type = parts.gated ? "T5DenseGatedActDense" : "T5DenseActDense";
    const Tensor y = graph.Module("DenseReluDense", type, normed, [&] {
      const LinearOptions split = {.bias = false, .split = Split::kColumns};
      Tensor wide =
          graph.Linear(parts.gated ? "wi_0" : "wi", normed, parts.sizes.intermediate, split);
      wide = graph.Act("act", parts.activation, wide);
      if (parts.gated) {
        wide = graph.Mul(wide, graph.Linear("wi_1", normed, parts.sizes.intermediate, split));
      }
      graph.Dropout("dropout", wide);
      return graph.Linear("wo", wide, parts.sizes.hidden, {.bias = false, .split = Split::kRows});
    });
    graph.Dropout("dropout", y);
    return graph.Add(x, y);
  });
}

// `memory`: for the decoder, the encoder's output.
Tensor Stack(Graph& graph, const T5Parts& parts, const char* name, int64_t layers, int64_t tokens,
             const Tensor* memory) {
  const bool decoder = memory != nullptr;
  const Tensor ids = graph.Ids({graph.pass().batch, tokens});
  return graph.Module(name, "T5Stack", ids, [&] {
    Tensor x = graph.WordEmbedding("embed_tokens", ids, parts.sizes.vocab, parts.sizes.hidden);
    MadeOnce made;
    MadeOnce of_memory;
    if (decoder) made.mask = CausalMask(graph, tokens, graph.pass().cached + tokens);
    graph.Dropout("dropout", x);
    for (int64_t i = 0; i < layers; ++i) {
      x = graph.Module(Numbered("block", i), "T5Block", x, [&] {
        x = graph.Module("layer.0", "T5LayerSelfAttention", x, [&] {
          Tensor y = Norm(graph, "layer_norm", x);
          y = Attention(graph, parts, "SelfAttention", decoder, nullptr, i == 0, made, y);
          graph.Dropout("dropout", y);
          return graph.Add(x, y);
        });
        if (decoder) {
          x = graph.Module("layer.1", "T5LayerCrossAttention", x, [&] {
            Tensor y = Norm(graph, "layer_norm", x);
            y = Attention(graph, parts, "EncDecAttention", true, memory, false, of_memory, y);
            graph.Dropout("dropout", y);
            return graph.Add(x, y);
          });
        }
        return FeedForward(graph, parts, decoder ? 2 : 1, x);
      });
    }
    return Norm(graph, "final_layer_norm", x);
  });
}

}  // namespace

BareModel BuildT5(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  T5Parts parts;
  parts.sizes.vocab = config.Int({"vocab_size"}, 32128);
  parts.sizes.hidden = config.Int({"d_model", "hidden_size"}, 512);
  parts.head_dim = config.Int({"d_kv", "head_dim"}, 64);
  parts.sizes.intermediate = config.Int({"d_ff"}, 2048);
  parts.sizes.layers = ReadLayers(config, {"num_layers", "num_hidden_layers"}, 6);
  parts.decoder_layers = ReadLayers(config, {"num_decoder_layers"}, parts.sizes.layers);
  parts.sizes.heads = config.Int({"num_heads", "num_attention_heads"}, 8);
  parts.buckets = config.Int({"relative_attention_num_buckets"}, 32);
  const bool tied = config.Bool({"tie_word_embeddings"}, true);
  std::string projection = config.Text({"feed_forward_proj"}, "relu");
  parts.gated = projection.starts_with("gated-");
  if (parts.gated) projection.erase(0, 6);
  parts.activation = parts.gated && projection == "gelu" ? "gelu_new" : projection;
  config.Require(FindActivation(parts.activation) != nullptr, "feed_forward_proj",
                 "must be an activation, or 'gated-' and one; there are " + ActivationNames());
  RequireGpus(config, "num_heads", pass, parts.sizes.heads);
  if (config.error()) return {};

  graph.Unused("shared", "Embedding",
               static_cast<uint64_t>(parts.sizes.vocab) * static_cast<uint64_t>(parts.sizes.hidden),
               true);
  Tensor memory = graph.Activation({pass.batch, pass.encoded, parts.sizes.hidden});
  if (pass.run_encoder) {
    memory = Stack(graph, parts, "encoder", parts.sizes.layers, pass.encoded, nullptr);
  }
  BareModel model = {.hidden = memory, .vocab = parts.sizes.vocab, .tied = tied};
  if (!pass.decoder) return model;
  model.hidden = Stack(graph, parts, "decoder", parts.decoder_layers, pass.decoder_tokens, &memory);
  return model;
}

}  // namespace beryl::models
