#include <fmt/format.h>

#include "models/attention.h"
#include "models/families.h"

namespace beryl::models {
namespace {

struct BartStack {
  int64_t layers = 12;
  int64_t heads = 16;
  int64_t intermediate = 4096;
};

struct BartParts {
  Sizes sizes;
  BartStack encoder;
  BartStack decoder;
  std::string activation;
  bool tied = true;  // both embeddings and the language model's head share one table
};

constexpr const char* kWords = "BartScaledWordEmbedding";

BartStack ReadStack(Config& config, const std::string& name) {
  BartStack stack;
  // The unprefixed keys belong to the encoder.
  if (name == "encoder") {
    stack.layers = ReadLayers(config, {"encoder_layers", "num_hidden_layers"}, 12);
    stack.heads = config.Int({"encoder_attention_heads", "num_attention_heads"}, 16);
  } else {
    stack.layers = ReadLayers(config, {"decoder_layers"}, 12);
    stack.heads = config.Int({"decoder_attention_heads"}, 16);
  }
  const std::string wide = name + "_ffn_dim";
  stack.intermediate = config.Int({wide}, 4096);
  return stack;
}

Tensor Attention(Graph& graph, const BartStack& stack, const char* name, bool decoder,
                 const Tensor& mask, const Tensor* memory, const Tensor& x) {
  const int64_t hidden = x.Last();
  return graph.Module(name, "BartAttention", x, [&] {
    const LinearOptions split = {.split = Split::kColumns};
    AttentionOptions options = {.heads = stack.heads,
                                .kv_heads = stack.heads,
                                .head_dim = hidden / stack.heads,
                                .mask_made = mask};
    const Tensor q = graph.Linear("q_proj", x, hidden, split);
    const auto [k, v] =
        ProjectKeys(graph, {"k_proj", "v_proj"}, x, memory, decoder, split, options);
    return graph.Linear("out_proj", Attend(graph, q, k, v, options), hidden,
                        {.split = Split::kRows});
  });
}

// A decoder on its own has cross-attention layers but does not run them.
void UnusedAttention(Graph& graph, const Tensor& x) {
  const auto hidden = static_cast<uint64_t>(x.Last());
  graph.Repeat(0, [&] {
    std::ignore = graph.Module("encoder_attn", "BartAttention", x, [&] {
      for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
        graph.Unused(name, "Linear", hidden * hidden + hidden);
      }
      return x;
    });
  });
  graph.Unused("encoder_attn_layer_norm", "LayerNorm", 2 * hidden);
}

// `memory`: for the decoder, the encoder's output; empty if there is no encoder.
Tensor Layer(Graph& graph, const BartParts& parts, int64_t index, bool decoder, const Tensor& mask,
             const Tensor* memory, const Tensor& input) {
  const BartStack& stack = decoder ? parts.decoder : parts.encoder;
  const char* type = decoder ? "BartDecoderLayer" : "BartEncoderLayer";
  return graph.Module(Numbered("layers", index), type, input, [&] {
    Tensor x = input;
    Tensor y = Attention(graph, stack, "self_attn", decoder, mask, nullptr, x);
    x = graph.LayerNorm("self_attn_layer_norm", graph.Add(graph.Drop(y), x));
    if (decoder && memory == nullptr) {
      UnusedAttention(graph, x);
    } else if (decoder) {
      y = Attention(graph, stack, "encoder_attn", true, {}, memory, x);
      x = graph.LayerNorm("encoder_attn_layer_norm", graph.Add(graph.Drop(y), x));
    }
    y = graph.Linear("fc1", x, stack.intermediate, {.split = Split::kColumns});
    y = graph.Act("activation_fn", parts.activation, y);
    y = graph.Linear("fc2", y, x.Last(), {.split = Split::kRows});
    return graph.LayerNorm("final_layer_norm", graph.Add(graph.Drop(y), x));
  });
}

Tensor Stack(Graph& graph, const BartParts& parts, bool decoder, int64_t tokens,
             const Tensor* memory) {
  const Pass& pass = graph.pass();
  const Tensor ids = graph.Ids({pass.batch, tokens});
  return graph.Module(
      decoder ? "decoder" : "encoder", decoder ? "BartDecoder" : "BartEncoder", ids, [&] {
        Tensor x = graph.ScaledEmbedding("embed_tokens", kWords, ids, parts.sizes.vocab,
                                         parts.sizes.hidden, parts.tied);
        Tensor mask;
        if (decoder) mask = CausalMask(graph, tokens, pass.cached + tokens);
        const Tensor places = graph.Embedding(
            "embed_positions", decoder ? graph.Ids({int64_t{1}, tokens}) : ids,
            parts.sizes.positions + 2, parts.sizes.hidden, "BartLearnedPositionalEmbedding");
        x = graph.LayerNorm("layernorm_embedding", graph.Add(x, places));
        const int64_t layers = decoder ? parts.decoder.layers : parts.encoder.layers;
        for (int64_t i = 0; i < layers; ++i) x = Layer(graph, parts, i, decoder, mask, memory, x);
        return x;
      });
}

}  // namespace

BareModel BuildBart(Graph& graph, Config& config) {
  const Pass& pass = graph.pass();
  BartParts parts;
  parts.sizes.vocab = config.Int({"vocab_size"}, 50265);
  parts.sizes.hidden = config.Int({"d_model", "hidden_size"}, 1024);
  parts.sizes.positions = config.Int({"max_position_embeddings"}, 1024);
  parts.encoder = ReadStack(config, "encoder");
  parts.decoder = ReadStack(config, "decoder");
  parts.activation = ReadActivation(config, {"activation_function"}, "gelu");
  parts.tied = config.Bool({"tie_word_embeddings"}, true);
  for (const auto& [stack, key] : {std::pair(&parts.encoder, "encoder_attention_heads"),
                                   std::pair(&parts.decoder, "decoder_attention_heads")}) {
    parts.sizes.heads = stack->heads;
    RequireHeads(config, key, parts.sizes);
    RequireGpus(config, key, pass, stack->heads);
  }
  const int64_t decoder_tokens = pass.encoder ? pass.decoder_tokens : pass.tokens;
  for (const int64_t tokens : {pass.encoded, pass.cached + decoder_tokens}) {
    config.Require(tokens <= parts.sizes.positions, "max_position_embeddings",
                   fmt::format("the model has {} positions, {} tokens do not fit",
                               parts.sizes.positions, tokens));
  }
  if (config.error()) return {};

  BareModel model = {.vocab = parts.sizes.vocab, .tied = parts.tied};
  if (!pass.encoder) {
    model.hidden = Stack(graph, parts, true, decoder_tokens, nullptr);
    return model;
  }
  graph.Unused("shared", kWords,
               static_cast<uint64_t>(parts.sizes.vocab) * static_cast<uint64_t>(parts.sizes.hidden),
               parts.tied);
  Tensor memory = graph.Activation({pass.batch, pass.encoded, parts.sizes.hidden});
  if (pass.run_encoder) memory = Stack(graph, parts, false, pass.encoded, nullptr);
  model.hidden = Stack(graph, parts, true, decoder_tokens, &memory);
  return model;
}

}  // namespace beryl::models
