#include "models/decoder.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "models/attention.h"

namespace beryl::models {
namespace {

Tensor Norm(Graph& graph, const DecoderParts& parts, std::string name, const Tensor& x) {
  return graph.RmsNorm(std::move(name), parts.prefix + "RMSNorm", x, parts.gemma);
}

Tensor HeadNorm(Graph& graph, const DecoderParts& parts, std::string name, const Tensor& x,
                int64_t heads) {
  Tensor view = x;
  view.shape.dims = {x.shape.dims[0], x.shape.dims[1], heads, parts.head_dim, 0};
  view.shape.rank = 4;
  return x.Of(Norm(graph, parts, std::move(name), view));
}

Tensor Attention(Graph& graph, const DecoderParts& parts, const AttentionOptions& options,
                 const Tensor& x) {
  return graph.Module("self_attn", parts.prefix + "Attention", x, [&] {
    const int64_t queries = parts.sizes.heads * parts.head_dim;
    const int64_t keys = parts.kv_heads * parts.head_dim;
    const LinearOptions split = {.bias = parts.qkv_bias, .split = Split::kColumns};
    // With more GPUs than key heads, each GPU holds a copy of those it needs.
    const bool whole = parts.kv_heads % graph.pass().gpus != 0;
    const LinearOptions kv_split = {.bias = parts.qkv_bias,
                                    .split = whole ? Split::kNone : Split::kColumns};
    Tensor q;
    Tensor k;
    Tensor v;
    if (parts.fused) {
      const Tensor qkv = graph.Linear("qkv_proj", x, queries + 2 * keys, split);
      q = qkv.WithLast(queries);
      k = v = qkv.WithLast(keys);
    } else {
      q = graph.Linear("q_proj", x, queries, split);
      if (parts.qk_norm) q = HeadNorm(graph, parts, "q_norm", q, parts.sizes.heads);
      k = graph.Linear("k_proj", x, keys, kv_split);
      if (parts.qk_norm) k = HeadNorm(graph, parts, "k_norm", k, parts.kv_heads);
      v = graph.Linear("v_proj", x, keys, kv_split);
    }
    return graph.Linear("o_proj", Attend(graph, q, k, v, options), parts.sizes.hidden,
                        {.bias = parts.out_bias, .split = Split::kRows});
  });
}

Tensor Mlp(Graph& graph, const DecoderParts& parts, const Tensor& x) {
  return graph.Module("mlp", parts.prefix + "MLP", x, [&] {
    const LinearOptions split = {.bias = parts.mlp_bias, .split = Split::kColumns};
    const int64_t wide = parts.sizes.intermediate;
    Tensor gate;
    Tensor up;
    if (parts.fused) {
      up = graph.Linear("gate_up_proj", x, 2 * wide, split).WithLast(wide);
      gate = graph.Act("activation_fn", parts.activation, up);
    } else {
      gate = graph.Linear("gate_proj", x, wide, split);
      gate = graph.Act("act_fn", parts.activation, gate);
      up = graph.Linear("up_proj", x, wide, split);
    }
    return graph.Linear("down_proj", graph.Mul(gate, up), parts.sizes.hidden,
                        {.bias = parts.mlp_bias, .split = Split::kRows});
  });
}

// A product with the matrices of all experts that any token of the batch selected.
Tensor ExpertProduct(Graph& graph, const Tensor& x, const Tensor& y, double touched) {
  Work work;
  work.matmul_flops = 2 * x.Elements() * static_cast<double>(y.Last());
  work.flops = work.matmul_flops;
  const double weights = static_cast<double>(x.Last()) * static_cast<double>(y.Last());
  work.bytes_read = x.Bytes() + touched * weights * graph.weight_width();
  work.bytes_written = y.Bytes();
  return graph.Math("grouped_mm", MathKind::kMatmul, {x}, y, work, true);
}

Tensor Experts(Graph& graph, const DecoderParts& parts, const Tensor& x) {
  const Pass& pass = graph.pass();
  const int64_t hidden = parts.sizes.hidden;
  const int64_t wide = parts.sizes.intermediate;
  const int64_t tokens = pass.batch * pass.tokens;
  const auto experts = static_cast<double>(parts.experts);
  const double share = static_cast<double>(parts.experts_a_token) / experts;
  const double touched = experts * (1 - std::pow(1 - share, static_cast<double>(tokens)));
  graph.Assume(
      {NoteKind::kAssumedEvenExperts, "", {tokens, touched, parts.experts, parts.experts_a_token}});
  return graph.Module("mlp", parts.prefix + "SparseMoeBlock", x, [&] {
    const Tensor rows = graph.Activation({tokens, hidden}).Of(x);
    Tensor chosen = graph.Activation({tokens, parts.experts_a_token});
    const auto gate_parameters =
        static_cast<uint64_t>(parts.experts) * static_cast<uint64_t>(hidden);
    const Tensor shares = graph.Primitive("gate", parts.prefix + "TopKRouter", rows, 0, [&] {
      graph.AddWeight({parts.experts, hidden});
      Tensor logits = graph.Activation({tokens, parts.experts});
      Work work;
      work.matmul_flops = 2 * rows.Elements() * experts;
      work.flops = work.matmul_flops;
      work.bytes_read = rows.Bytes() + static_cast<double>(gate_parameters) * graph.weight_width();
      work.bytes_written = logits.Bytes();
      const auto gpus = static_cast<double>(pass.gpus);
      logits = graph.Math("mm", MathKind::kMatmul, {rows}, logits, work * gpus, false);
      logits = graph.Elementwise("softmax", {logits}, logits, 5);
      chosen = graph.Elementwise("topk", {logits}, chosen);
      const Tensor sum = graph.Elementwise("sum", {chosen}, chosen.WithLast(1));
      const Tensor scaled = graph.Elementwise("div", {chosen}, chosen);
      graph.AlsoReads(sum);
      return scaled;
    });
    return graph.Module("experts", parts.prefix + "Experts", rows, [&] {
      graph.AddWeight({parts.experts, 2 * wide, hidden});
      graph.AddWeight({parts.experts, hidden, wide});
      Tensor routed = graph.Activation({tokens * parts.experts_a_token, hidden}).Of(x);
      routed = graph.Copy("index", routed);
      graph.AlsoReads(chosen);
      Tensor both = routed.WithLast(2 * wide);
      both.split = pass.gpus > 1;
      both = ExpertProduct(graph, routed, both, touched);
      const Tensor up = both.WithLast(wide);
      const Tensor gate = graph.Act("act_fn", parts.activation, up);
      routed = ExpertProduct(graph, graph.Mul(gate, up), routed, touched);
      routed = graph.Elementwise("mul", {routed, shares}, routed);
      Work sum;
      sum.flops = routed.Elements();
      sum.bytes_read = routed.Bytes();
      sum.bytes_written = rows.Bytes();
      const Tensor added = graph.Math("sum", MathKind::kReduce, {routed}, rows,
                                      sum * static_cast<double>(pass.gpus), false);
      return x.Of(graph.AllReduce(added));
    });
  });
}

Tensor Layer(Graph& graph, const DecoderParts& parts, int64_t index, const Tensor& input,
             const AttentionOptions& options) {
  return graph.Module(Numbered("layers", index), parts.prefix + "DecoderLayer", input, [&] {
    Tensor x = input;
    Tensor y = Norm(graph, parts, "input_layernorm", x);
    y = Attention(graph, parts, options, y);
    if (parts.fused) graph.Dropout("resid_attn_dropout", y);
    if (parts.sandwich) {
      y = Norm(graph, parts, "post_attention_layernorm", y);
      x = graph.Add(x, y);
      y = Norm(graph, parts, "pre_feedforward_layernorm", x);
    } else {
      x = graph.Add(x, y);
      y = Norm(graph, parts, "post_attention_layernorm", x);
    }
    y = parts.experts > 0 ? Experts(graph, parts, y) : Mlp(graph, parts, y);
    if (parts.fused) graph.Dropout("resid_mlp_dropout", y);
    if (parts.sandwich) y = Norm(graph, parts, "post_feedforward_layernorm", y);
    return graph.Add(x, y);
  });
}

}  // namespace

DecoderParts ReadDecoder(Config& config, const Pass& pass, std::string prefix,
                         const DecoderDefaults& defaults, Keys activation_keys) {
  DecoderParts parts;
  parts.prefix = std::move(prefix);
  parts.sizes.vocab = config.Int({"vocab_size"}, defaults.vocab);
  parts.sizes.hidden = config.Int({"hidden_size"}, defaults.hidden);
  parts.sizes.layers = ReadLayers(config, {"num_hidden_layers"}, defaults.layers);
  parts.sizes.heads = config.Int({"num_attention_heads"}, defaults.heads);
  parts.sizes.intermediate = config.Int({"intermediate_size"}, defaults.intermediate);
  parts.kv_heads =
      config.MaybeInt({"num_key_value_heads"}, defaults.kv_heads).value_or(parts.sizes.heads);
  const auto head_dim = config.MaybeInt({"head_dim"}, defaults.head_dim);
  if (!head_dim) RequireHeads(config, "num_attention_heads", parts.sizes);
  parts.head_dim = head_dim.value_or(std::max<int64_t>(1, parts.sizes.hidden / parts.sizes.heads));
  parts.activation = ReadActivation(config, activation_keys, defaults.activation);
  parts.tied = config.Bool({"tie_word_embeddings"}, defaults.tied);
  config.Require(
      parts.sizes.heads % parts.kv_heads == 0, "num_key_value_heads",
      fmt::format("{} do not divide {} attention heads", parts.kv_heads, parts.sizes.heads));
  config.Require(parts.head_dim % 2 == 0, "head_dim",
                 fmt::format("rotary positions need an even size, this is {}", parts.head_dim));
  RequireGpus(config, "num_attention_heads", pass, parts.sizes.heads);
  return parts;
}

void SetWindow(DecoderParts& parts, std::optional<int64_t> window) {
  if (window) parts.windows.assign(static_cast<size_t>(parts.sizes.layers), window);
}

void SetWindows(Config& config, DecoderParts& parts, std::optional<int64_t> window,
                bool (*is_sliding)(int64_t layer, int64_t from), int64_t from) {
  const std::vector<std::string> types = config.Texts({"layer_types"});
  config.Require(types.empty() || types.size() == static_cast<size_t>(parts.sizes.layers),
                 "layer_types",
                 fmt::format("must have one for each of {} layers", parts.sizes.layers));
  for (const std::string& type : types) {
    config.Require(type == "sliding_attention" || type == "full_attention", "layer_types",
                   "'" + type + "' is neither sliding_attention nor full_attention");
  }
  if (!window) return;
  for (int64_t layer = 0; layer < parts.sizes.layers; ++layer) {
    const auto at = static_cast<size_t>(layer);
    const bool sliding =
        at < types.size() ? types[at] == "sliding_attention" : is_sliding(layer, from);
    parts.windows.push_back(sliding ? window : std::nullopt);
  }
}

BareModel BuildDecoder(Graph& graph, const DecoderParts& parts) {
  const Pass& pass = graph.pass();
  const Tensor ids = graph.Ids({pass.batch, pass.tokens});
  AttentionOptions options = {.heads = parts.sizes.heads,
                              .kv_heads = parts.kv_heads,
                              .head_dim = parts.head_dim,
                              .rotary_dim = parts.head_dim,
                              .mask = AttentionOptions::Mask::kCausal,
                              .softcap = parts.softcap,
                              .cache = true};
  Tensor x;
  if (parts.gemma) {
    x = graph.ScaledEmbedding("embed_tokens", parts.prefix + "TextScaledWordEmbedding", ids,
                              parts.sizes.vocab, parts.sizes.hidden, true);
  } else {
    x = graph.WordEmbedding("embed_tokens", ids, parts.sizes.vocab, parts.sizes.hidden);
  }
  options.mask_made = CausalMask(graph, pass.tokens, pass.cached + pass.tokens);
  options.angles = RotaryTable(graph, parts.prefix + "RotaryEmbedding", parts.head_dim);
  for (int64_t i = 0; i < parts.sizes.layers; ++i) {
    if (!parts.windows.empty()) options.window = parts.windows[static_cast<size_t>(i)];
    x = Layer(graph, parts, i, x, options);
  }
  x = Norm(graph, parts, "norm", x);
  return {
      .hidden = x, .vocab = parts.sizes.vocab, .activation = parts.activation, .tied = parts.tied};
}

}  // namespace beryl::models
