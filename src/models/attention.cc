#include "models/attention.h"

#include <algorithm>

namespace beryl::models {
namespace {

using Mask = AttentionOptions::Mask;
using Scale = AttentionOptions::Scale;

// [batch, tokens, heads x dim] as [batch, heads, tokens, dim]: a view, no operation.
Tensor Heads(const Tensor& x, int64_t heads, int64_t head_dim) {
  Tensor view = x;
  view.shape.dims = {x.shape.dims[0], heads, x.shape.dims[1], head_dim, 0};
  view.shape.rank = 4;
  return view;
}

Tensor WithTokens(Tensor heads, int64_t tokens) {
  heads.shape.dims[2] = tokens;
  return heads;
}

Tensor Transposed(Tensor heads) {
  std::swap(heads.shape.dims[2], heads.shape.dims[3]);
  return heads;
}

Tensor Rotated(Graph& graph, const Tensor& x, int64_t rotary_dim) {
  const Tensor turned = x.WithLast(rotary_dim);
  const Tensor table = graph.Activation({1, 1, x.shape.dims[2], rotary_dim});
  graph.Elementwise("mul", {turned, table}, turned);
  const Tensor half = x.WithLast(rotary_dim / 2);
  graph.Elementwise("neg", {half}, half);
  graph.Copy("cat", turned);
  graph.Elementwise("mul", {turned, table}, turned);
  graph.Add(turned, turned);
  if (rotary_dim < x.Last()) graph.Copy("cat", x);
  return x;
}

// Keys or values after those of the tokens before.
Tensor Cached(Graph& graph, const Tensor& fresh, int64_t keys) {
  const Tensor all = WithTokens(fresh, keys);
  if (graph.pass().attention == AttentionKind::kFlash) {
    graph.Copy("cache_write", fresh);  // the cache has room: only what is new is written
  } else {
    graph.Copy("cat", all);
  }
  return all;
}

Tensor Repeated(Graph& graph, const Tensor& x, int64_t heads) {
  Tensor wide = x;
  wide.shape.dims[1] = heads;
  return graph.CopyTo("repeat_kv", x, wide);
}

void ApplyMask(Graph& graph, const Tensor& scores, Mask mask) {
  const auto& dims = scores.shape.dims;
  const Tensor row = graph.Activation({dims[0], 1, 1, dims[3]});
  const Tensor matrix = graph.Activation({1, 1, dims[2], dims[3]});
  Tensor truths = matrix;
  truths.width = 1;
  switch (mask) {
    case Mask::kNone:
      break;
    case Mask::kPadding:
      graph.Elementwise("add", {scores, row}, scores);
      break;
    case Mask::kCausal:
      graph.Elementwise("add", {scores, graph.Activation({dims[0], 1, dims[2], dims[3]})}, scores);
      break;
    case Mask::kFill:
      graph.Elementwise("eq", {row}, row);
      graph.Elementwise("masked_fill", {scores, row}, scores, 0);
      break;
    case Mask::kChoose:
      graph.Elementwise("to", {truths}, truths, 0);
      graph.Elementwise("where", {truths, scores}, scores, 0);
      break;
    case Mask::kWeigh:
      graph.Elementwise("mul", {scores, matrix}, scores);
      graph.Elementwise("rsub", {matrix}, matrix);
      graph.Elementwise("mul", {matrix}, matrix);
      graph.Elementwise("add", {scores, matrix}, scores);
      break;
  }
}

Tensor Eager(Graph& graph, Tensor q, Tensor k, Tensor v, bool contiguous,
             const AttentionOptions& options) {
  const int64_t tokens = q.shape.dims[2];
  const int64_t keys = k.shape.dims[2];
  const double batch = static_cast<double>(q.shape.dims[0]) * static_cast<double>(q.shape.dims[1]);
  if (options.scale == Scale::kQueries) graph.Elementwise("div", {q}, q);
  // Heads stand behind tokens in memory: a batched product needs them the other way round.
  if (tokens > 1) graph.Copy("contiguous", q);
  if (!contiguous) graph.CopyTo("contiguous", k, Transposed(k));
  const Tensor scores = q.WithLast(keys);
  graph.MatMul(batch, tokens, options.head_dim, keys, q, Transposed(k), scores);
  if (options.scale == Scale::kScores) graph.Elementwise("div", {scores}, scores);
  if (options.softcap) {
    graph.Scale(scores);
    graph.Elementwise("tanh", {scores}, scores, 4);
    graph.Scale(scores);
  }
  if (options.bias) {
    Tensor bias = scores;
    bias.shape.dims[0] = 1;
    graph.Add(scores, bias);
  }
  ApplyMask(graph, scores, options.mask);
  const Tensor shares = graph.Softmax(scores);
  if (!contiguous) graph.Copy("contiguous", v);
  graph.MatMul(batch, tokens, keys, options.head_dim, shares, v, q);
  return q;
}

Tensor Fused(Graph& graph, const Tensor& q, const Tensor& k, const Tensor& v,
             const AttentionOptions& options) {
  const Tensor scores = q.WithLast(k.shape.dims[2]);
  Work work;
  work.matmul_flops = 4 * scores.Elements() * static_cast<double>(options.head_dim);
  work.flops = work.matmul_flops + 6 * scores.Elements();
  work.bytes_read = q.Bytes() + k.Bytes() + v.Bytes();
  if (graph.pass().attention == AttentionKind::kSdpa && options.mask != Mask::kNone) {
    Tensor mask = scores;
    mask.shape.dims[1] = 1;
    work.bytes_read += mask.Bytes();
  }
  work.bytes_written = q.Bytes();
  return graph.Primitive({}, "ScaledDotProductAttention", q, 0, [&] {
    return graph.Math("scaled_dot_product_attention", MathKind::kAttention, {q, k, v}, q,
                      q.split ? work : work * static_cast<double>(graph.pass().gpus), q.split);
  });
}

}  // namespace

int64_t KeysSeen(const Pass& pass, int64_t new_keys, const AttentionOptions& options) {
  if (options.memory) return *options.memory;
  const int64_t before = options.window ? std::min(pass.cached, *options.window - 1) : pass.cached;
  return before + new_keys;
}

KeysAndValues ProjectKeys(Graph& graph, const KeyNames& names, const Tensor& x,
                          const Tensor* memory, bool decoder, const LinearOptions& linear,
                          AttentionOptions& options) {
  const Pass& pass = graph.pass();
  const int64_t width = options.kv_heads * options.head_dim;
  if (memory == nullptr) {
    if (decoder) {
      options.mask = Mask::kCausal;
      options.cache = true;
    }
    const Tensor k = graph.Linear(names.k, x, width, linear);
    return {k, graph.Linear(names.v, x, width, linear)};
  }
  options.memory = pass.encoded;
  if (!pass.run_encoder) {
    const auto parameters = static_cast<uint64_t>(x.Last()) * static_cast<uint64_t>(width) +
                            (linear.bias ? static_cast<uint64_t>(width) : 0);
    graph.Unused(names.k, "Linear", parameters);
    graph.Unused(names.v, "Linear", parameters);
    Tensor cached = x.WithLast(width);
    cached.split = pass.gpus > 1 && linear.split == Split::kColumns;
    return {cached, cached};
  }
  const Tensor k = graph.Linear(names.k, *memory, width, linear);
  const Tensor v = graph.Linear(names.v, *memory, width, linear);
  return {graph.Copy("cat", k), graph.Copy("cat", v)};
}

Tensor Attend(Graph& graph, const Tensor& q_in, const Tensor& k_in, const Tensor& v_in,
              const AttentionOptions& options) {
  Tensor q = Heads(q_in, options.heads, options.head_dim);
  Tensor k = Heads(k_in, options.kv_heads, options.head_dim);
  Tensor v = Heads(v_in, options.kv_heads, options.head_dim);
  if (options.rotary_dim > 0) {
    q = Rotated(graph, q, options.rotary_dim);
    k = Rotated(graph, k, options.rotary_dim);
  }
  // Heads taken apart and put together again, keys turned, masks cut to size.
  graph.Views(options.mask == Mask::kPadding || options.mask == Mask::kNone ? 9
              : options.mask == Mask::kFill                                 ? 11
                                                                            : 13,
              q);
  const int64_t keys = KeysSeen(graph.pass(), k.shape.dims[2], options);
  if (options.memory) {
    k = WithTokens(k, keys);
    v = WithTokens(v, keys);
  } else if (options.aside) {
    k = WithTokens(k, keys);
    v = WithTokens(v, keys);
    Tensor both = k;
    both.shape.dims[1] *= 2;
    graph.Copy("stack", both);
  } else if (options.cache) {
    k = Cached(graph, k, keys);
    v = Cached(graph, v, keys);
  }
  const AttentionKind kind = graph.pass().attention;
  bool contiguous = (options.cache && !options.aside) || options.memory.has_value();
  if (options.kv_heads < options.heads && kind != AttentionKind::kFlash) {
    k = Repeated(graph, k, options.heads);
    v = Repeated(graph, v, options.heads);
    k.split = v.split = q.split;
    contiguous = true;
  }
  const Tensor context = kind == AttentionKind::kEager ? Eager(graph, q, k, v, contiguous, options)
                                                       : Fused(graph, q, k, v, options);
  // Back to heads behind tokens. Flash attention writes them so.
  if (kind != AttentionKind::kFlash && q.shape.dims[2] > 1) graph.Copy("contiguous", context);
  return q_in;
}

void RotaryTable(Graph& graph, std::string_view type, int64_t rotary_dim) {
  const Tensor positions = graph.Ids({1, graph.pass().tokens});
  graph.Primitive("rotary_emb", type, positions, 0, [&] {
    Tensor angles = graph.Activation({1, graph.pass().tokens, rotary_dim});
    angles.width = 4;
    const Tensor half = angles.WithLast(rotary_dim / 2);
    graph.Elementwise("to", {positions}, angles.WithLast(1), 0);
    graph.Elementwise("mul", {half}, half);
    graph.Copy("cat", angles);
    for (const char* name : {"cos", "sin"}) {
      graph.Elementwise(name, {angles}, angles, 4);
      graph.Scale(angles);
    }
    return angles;
  });
}

void CausalMask(Graph& graph, int64_t tokens, int64_t keys) {
  if (graph.pass().attention == AttentionKind::kFlash) return;
  Tensor truths = graph.Activation({1, 1, tokens, keys});
  truths.width = 1;
  graph.Elementwise("le", {truths}, truths);
  graph.Elementwise("where", {truths}, graph.Activation({graph.pass().batch, 1, tokens, keys}), 0);
}

}  // namespace beryl::models
