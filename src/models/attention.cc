#include "models/attention.h"

#include <algorithm>
#include <utility>

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

Tensor Rotated(Graph& graph, const Tensor& x, const AttentionOptions& options) {
  const Tensor turned = x.WithLast(options.rotary_dim);
  const Tensor table = graph.Activation({1, 1, x.shape.dims[2], options.rotary_dim});
  const Tensor along = graph.Elementwise("mul", {turned, table.Of(options.angles.cosines)}, turned);
  const Tensor half = x.WithLast(options.rotary_dim / 2);
  const Tensor negated = graph.Elementwise("neg", {half}, half);
  Tensor across = graph.Copy("cat", turned.Of(negated));
  graph.AlsoReads(x);
  across = graph.Elementwise("mul", {across, table.Of(options.angles.sines)}, turned);
  const Tensor y = graph.Add(along, across);
  if (options.rotary_dim == x.Last()) return y;
  const Tensor whole = graph.Copy("cat", x.Of(y));
  graph.AlsoReads(x);
  return whole;
}

// Keys or values, appended to those of the previous tokens.
Tensor Cached(Graph& graph, const Tensor& fresh, int64_t keys) {
  const Tensor all = WithTokens(fresh, keys);
  if (graph.pass().attention == AttentionKind::kFlash) {
    // The cache has spare room: only the new entries are written.
    return all.Of(graph.Copy("cache_write", fresh));
  }
  return graph.Copy("cat", all);
}

Tensor Repeated(Graph& graph, const Tensor& x, int64_t heads) {
  Tensor wide = x;
  wide.shape.dims[1] = heads;
  return graph.CopyTo("repeat_kv", x, wide);
}

Tensor Masked(Graph& graph, const Tensor& scores, const AttentionOptions& options) {
  const auto& dims = scores.shape.dims;
  const Tensor row = graph.Activation({dims[0], 1, 1, dims[3]}).Of(options.mask_made);
  const Tensor matrix = graph.Activation({1, 1, dims[2], dims[3]});
  Tensor truths = matrix;
  truths.width = 1;
  switch (options.mask) {
    case Mask::kNone:
      break;
    case Mask::kPadding:
      return graph.Elementwise("add", {scores, row}, scores);
    case Mask::kCausal:
      return graph.Elementwise(
          "add", {scores, graph.Activation({dims[0], 1, dims[2], dims[3]}).Of(options.mask_made)},
          scores);
    case Mask::kFill:
      return graph.Elementwise("masked_fill", {scores, graph.Elementwise("eq", {row}, row)}, scores,
                               0);
    case Mask::kChoose:
      truths = graph.Elementwise("to", {truths}, truths, 0);
      return graph.Elementwise("where", {truths, scores}, scores, 0);
    case Mask::kWeigh: {
      const Tensor weighed = graph.Elementwise("mul", {scores, matrix}, scores);
      Tensor shift = graph.Elementwise("rsub", {matrix}, matrix);
      shift = graph.Elementwise("mul", {shift}, matrix);
      return graph.Elementwise("add", {weighed, shift}, scores);
    }
  }
  return scores;
}

Tensor Eager(Graph& graph, Tensor q, const Tensor& k, Tensor v, bool contiguous,
             const AttentionOptions& options) {
  const int64_t tokens = q.shape.dims[2];
  const int64_t keys = k.shape.dims[2];
  const double batch = static_cast<double>(q.shape.dims[0]) * static_cast<double>(q.shape.dims[1]);
  if (options.scale == Scale::kQueries) q = graph.Elementwise("div", {q}, q);
  // In memory, heads come after tokens. A batched product needs the opposite order.
  if (tokens > 1) q = graph.Copy("contiguous", q);
  Tensor turned = Transposed(k);
  if (!contiguous) turned = graph.CopyTo("contiguous", k, turned);
  Tensor scores = graph.MatMul(batch, tokens, options.head_dim, keys, q, turned, q.WithLast(keys));
  if (options.scale == Scale::kScores) scores = graph.Elementwise("div", {scores}, scores);
  if (options.softcap) {
    scores = graph.Scale(scores);
    scores = graph.Elementwise("tanh", {scores}, scores, 4);
    scores = graph.Scale(scores);
  }
  if (options.bias) {
    Tensor bias = scores.Of(options.bias_made);
    bias.shape.dims[0] = 1;
    scores = graph.Add(scores, bias);
  }
  const Tensor shares = graph.DropScores(graph.Softmax(Masked(graph, scores, options)));
  if (!contiguous) v = graph.Copy("contiguous", v);
  return graph.MatMul(batch, tokens, keys, options.head_dim, shares, v, q);
}

Tensor Fused(Graph& graph, const Tensor& q, const Tensor& k, const Tensor& v,
             const AttentionOptions& options) {
  const Tensor scores = q.WithLast(k.shape.dims[2]);
  Work work;
  work.matmul_flops = 4 * scores.Elements() * static_cast<double>(options.head_dim);
  work.flops = work.matmul_flops + 6 * scores.Elements();
  work.bytes_read = q.Bytes() + k.Bytes() + v.Bytes();
  const bool masked = graph.pass().attention == AttentionKind::kSdpa && options.mask != Mask::kNone;
  if (masked) {
    Tensor mask = scores;
    mask.shape.dims[1] = 1;
    work.bytes_read += mask.Bytes();
  }
  work.bytes_written = q.Bytes();
  return graph.Primitive({}, "ScaledDotProductAttention", q, 0, [&] {
    const Tensor y =
        graph.Math("scaled_dot_product_attention", MathKind::kAttention, {q, k, v}, q,
                   q.split ? work : work * static_cast<double>(graph.pass().gpus), q.split);
    if (masked) graph.AlsoReads(options.mask_made);
    if (options.bias) graph.AlsoReads(options.bias_made);
    return y;
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
    Tensor cached = x.WithLast(width).Of({});
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
    q = Rotated(graph, q, options);
    k = Rotated(graph, k, options);
  }
  // Views that split and join heads, transpose keys and slice masks.
  graph.Views(options.mask == Mask::kPadding || options.mask == Mask::kNone ? 9
              : options.mask == Mask::kFill                                 ? 11
                                                                            : 13,
              q);
  const int64_t keys = KeysSeen(graph.pass(), k.shape.dims[2], options);
  if (options.memory) {
    k = WithTokens(k, keys);
    v = WithTokens(v, keys);
  } else if (graph.pass().training) {
    // Nothing is kept for later tokens.
  } else if (options.aside) {
    k = WithTokens(k, keys);
    v = WithTokens(v, keys);
    Tensor both = k;
    both.shape.dims[1] *= 2;
    std::ignore = graph.Copy("stack", both);
    graph.AlsoReads(v);
  } else if (options.cache) {
    k = Cached(graph, k, keys);
    v = Cached(graph, v, keys);
  }
  const AttentionKind kind = graph.pass().attention;
  const bool cached = options.cache && !options.aside && !graph.pass().training;
  bool contiguous = cached || options.memory.has_value();
  if (options.kv_heads < options.heads && kind != AttentionKind::kFlash) {
    k = Repeated(graph, k, options.heads);
    v = Repeated(graph, v, options.heads);
    k.split = v.split = q.split;
    contiguous = true;
  }
  Tensor context = kind == AttentionKind::kEager ? Eager(graph, q, k, v, contiguous, options)
                                                 : Fused(graph, q, k, v, options);
  // Back to heads after tokens. Flash attention already writes this order.
  if (kind != AttentionKind::kFlash && q.shape.dims[2] > 1) {
    context = graph.Copy("contiguous", context);
  }
  return q_in.Of(context);
}

RotaryAngles RotaryTable(Graph& graph, std::string_view type, int64_t rotary_dim) {
  const Tensor positions = graph.Ids({1, graph.pass().tokens});
  RotaryAngles table;
  std::ignore = graph.Primitive("rotary_emb", type, positions, 0, [&] {
    Tensor angles = graph.Activation({1, graph.pass().tokens, rotary_dim});
    angles.width = 4;
    const Tensor half = angles.WithLast(rotary_dim / 2);
    const Tensor places = graph.Elementwise("to", {positions}, angles.WithLast(1), 0);
    const Tensor turns = graph.Elementwise("mul", {half.Of(places)}, half);
    angles = graph.Copy("cat", angles.Of(turns));
    table.cosines = graph.Scale(graph.Elementwise("cos", {angles}, angles, 4));
    table.sines = graph.Scale(graph.Elementwise("sin", {angles}, angles, 4));
    return angles;
  });
  return table;
}

Tensor CausalMask(Graph& graph, int64_t tokens, int64_t keys) {
  if (graph.pass().attention == AttentionKind::kFlash) return {};
  Tensor truths = graph.Activation({1, 1, tokens, keys});
  truths.width = 1;
  truths = graph.Elementwise("le", {truths}, truths);
  return graph.Elementwise("where", {truths},
                           graph.Activation({graph.pass().batch, 1, tokens, keys}), 0);
}

}  // namespace beryl::models
