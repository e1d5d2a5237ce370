#include "models/backward.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace beryl::models {
namespace {

Shape ShapeOf(std::initializer_list<double> dims) {
  Shape shape;
  for (const double dim : dims) shape.dims[shape.rank++] = static_cast<int64_t>(dim);
  return shape;
}

template <size_t kSize>
bool IsOneOf(std::string_view name, const std::array<std::string_view, kSize>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Functions whose derivative is computed from the result; of the others, from what they read.
constexpr std::array<std::string_view, 7> kByResult = {"tanh", "sigmoid", "relu",    "rsqrt",
                                                       "sqrt", "softmax", "hardtanh"};
// Their derivative is a constant.
constexpr std::array<std::string_view, 6> kLinear = {"add", "rsub",        "neg",
                                                     "to",  "masked_fill", "where"};
constexpr double kFusedProducts = 2.5;  // five products backward, two forward

}  // namespace

Backward::Backward(Description& whole, NodeId forward, bool checkpointing)
    : whole_(whole),
      forward_(forward),
      end_(whole.tree.nodes[forward].end),
      checkpointing_(checkpointing),
      makers_(end_),
      trained_(end_),
      parts_(end_),
      again_(end_, kNoNode) {
  for (const Flow& flow : whole_.flows) makers_[flow.to].push_back(flow.from);
}

void Backward::Append() {
  FindGradients();
  for (NodeId node = end_; node-- > forward_;) {
    if (!whole_.nodes[node].kind) continue;
    if (trained_[node]) parts_[node].push_back({kNoNode, Out(node).Elements()});
    break;  // the loss
  }
  Mirror(forward_);
  // Consumers in order, as flows have to be.
  std::sort(whole_.flows.begin(), whole_.flows.end());
  whole_.flows.erase(std::unique(whole_.flows.begin(), whole_.flows.end()), whole_.flows.end());
}

void Backward::FindGradients() {
  for (NodeId node = forward_; node < end_; ++node) {
    const DescribedNode& of = whole_.nodes[node];
    if (!of.kind || *of.kind == MathKind::kView || !(of.runs > 0)) continue;
    const bool has_weights = *of.kind == MathKind::kMatmul || *of.kind == MathKind::kConvolution ||
                             *of.kind == MathKind::kGather || *of.kind == MathKind::kNorm;
    trained_[node] = has_weights || !TrainedMakers(node).empty();
  }
}

bool Backward::HasGradient(NodeId node) const {
  for (NodeId at = node; at < whole_.tree.nodes[node].end; ++at) {
    if (at < end_ && trained_[at]) return true;
  }
  return false;
}

bool Backward::IsLayer(NodeId node) const {
  const TreeNode& of = whole_.tree.nodes[node];
  if (of.level != Level::kModule || !SplitNumber(of.name)) return false;
  for (NodeId above = of.parent; above > forward_; above = whole_.tree.nodes[above].parent) {
    const TreeNode& outer = whole_.tree.nodes[above];
    if (outer.level == Level::kModule && SplitNumber(outer.name)) return false;
  }
  return true;
}

void Backward::Mirror(NodeId node) {
  if (whole_.nodes[node].kind) return MirrorOperation(node);
  if (!HasGradient(node)) return;
  const bool is_root = node == forward_;
  const TreeNode of = whole_.tree.nodes[node];
  const NodeId opened = Open(is_root ? std::string(RunPhaseName(RunPhase::kBackward)) : of.name,
                             of.type, of.level, node);
  whole_.nodes[opened].parameters = whole_.nodes[node].parameters;
  if (checkpointing_ && IsLayer(node)) Recompute(node);
  std::vector<NodeId> children;
  for (const NodeId child : Children(whole_.tree, node)) children.push_back(child);
  for (auto child = children.rbegin(); child != children.rend(); ++child) Mirror(*child);
  Close();
}

// --- What runs again.

bool Backward::SavesOwnResult(NodeId node) const {
  const MathKind kind = *whole_.nodes[node].kind;
  return kind == MathKind::kSoftmax || kind == MathKind::kAttention ||
         (kind == MathKind::kElementwise && IsOneOf(TypeOf(node), kByResult));
}

bool Backward::NeedsOthers(NodeId node) const {
  switch (*whole_.nodes[node].kind) {
    case MathKind::kMatmul:
    case MathKind::kConvolution:
    case MathKind::kBatchedMatmul:
    case MathKind::kAttention:
    case MathKind::kNorm:
      return true;
    case MathKind::kElementwise:
      return !IsOneOf(TypeOf(node), kLinear) && !IsOneOf(TypeOf(node), kByResult);
    default:
      return false;
  }
}

bool Backward::HasWeight(NodeId product) const {
  if (TypeOf(product) != "mul" || whole_.nodes[product].input_count != 2) return false;
  if (TrainedMakers(product).size() != 1) return false;
  // The layers below an attention module have weights, its own products have none.
  const NodeId module = whole_.tree.nodes[product].parent;
  uint64_t below = 0;
  for (const NodeId child : Children(whole_.tree, module)) below += whole_.nodes[child].parameters;
  return whole_.nodes[module].parameters > below;
}

std::vector<NodeId> Backward::SavedBy(NodeId node) const {
  std::vector<NodeId> saved;
  if (SavesOwnResult(node)) saved.push_back(node);
  const std::string_view type = TypeOf(node);
  const bool masks = type == "masked_fill" || type == "where";
  if (!masks && !NeedsOthers(node)) return saved;
  const bool product = type == "mul" || type == "div";
  const std::vector<NodeId> trained = TrainedMakers(node);
  for (const NodeId maker : Makers(node)) {
    // A gradient needs the other factor of a product, and the mask, not what is masked.
    const bool only_factor = product && trained.size() == 1 && trained.front() == maker;
    if (masks ? trained_[maker] : only_factor && !HasWeight(node)) continue;
    saved.push_back(maker);
  }
  return saved;
}

void Backward::Recompute(NodeId layer) {
  const NodeId end = whole_.tree.nodes[layer].end;
  NodeId last = kNoNode;  // operation whose result is needed
  for (NodeId node = layer; node < end; ++node) {
    if (!whole_.nodes[node].kind || !trained_[node]) continue;
    for (const NodeId saved : SavedBy(node)) {
      if (saved >= layer && (last == kNoNode || saved > last)) last = saved;
    }
  }
  if (last == kNoNode) return;
  const auto before = open_.size();
  for (NodeId node = layer; node <= last; ++node) {
    const TreeNode of = whole_.tree.nodes[node];
    const uint16_t depth = static_cast<uint16_t>(of.depth - whole_.tree.nodes[layer].depth);
    while (open_.size() > before + depth) Close();
    const bool is_layer = node == layer;
    const NodeId copy = Open(is_layer ? "recompute" : of.name, of.type, of.level, node);
    DescribedNode& made = whole_.nodes[copy];
    const DescribedNode& from = whole_.nodes[node];
    made.kind = from.kind;
    made.first_shape = from.first_shape;
    made.input_count = from.input_count;
    made.output_count = from.output_count;
    if (!from.kind) continue;
    made.work = from.work;
    for (const NodeId maker : Makers(node)) Reads(copy, Remembered(maker));
    again_[node] = copy;
  }
  while (open_.size() > before) Close();
}

NodeId Backward::Remembered(NodeId result) const {
  return again_[result] != kNoNode ? again_[result] : result;
}

// --- Gradients.

std::vector<NodeId> Backward::TrainedMakers(NodeId node) const {
  std::vector<NodeId> trained;
  for (const NodeId maker : Makers(node)) {
    if (trained_[maker]) trained.push_back(maker);
  }
  return trained;
}

const Shape& Backward::In(NodeId node, size_t at) const {
  return whole_.shapes[whole_.nodes[node].first_shape + at];
}
const Shape& Backward::Out(NodeId node) const { return In(node, whole_.nodes[node].input_count); }

double Backward::Width(NodeId node) const {
  const DescribedNode& of = whole_.nodes[node];
  const double elements = Out(node).Elements() * of.runs;
  return elements > 0 ? of.work.bytes_written / elements : 4;
}

double Backward::PartFor(NodeId node, NodeId maker) const {
  const double made = Out(maker).Elements();
  const uint8_t inputs = whole_.nodes[node].input_count;
  for (uint8_t at = 0; at < inputs; ++at) {
    if (In(node, at).Elements() == made) return made;
  }
  return inputs > 0 ? std::min(made, In(node).Elements()) : made;
}

void Backward::Give(NodeId result, NodeId made_by, double elements) {
  parts_[result].push_back({made_by, elements});
}

NodeId Backward::Collect(NodeId node) {
  const std::vector<Part>& parts = parts_[node];
  const double whole = Out(node).Elements();
  const auto is_whole = [&](const Part& part) { return part.elements >= whole; };
  const auto wholes = static_cast<double>(std::count_if(parts.begin(), parts.end(), is_whole));
  const double pieces = static_cast<double>(parts.size()) - wholes;
  if (parts.size() == 1 && pieces == 0) return parts.front().made_by;
  const double bytes = OutBytes(node);
  NodeId made = kNoNode;
  const auto reads_parts = [&](bool of_whole) {
    for (const Part& part : parts) {
      if (is_whole(part) == of_whole && part.made_by != kNoNode) Reads(made, part.made_by);
    }
  };
  if (pieces > 0) {
    // Put into the place that they were taken from.
    double read = 0;
    for (const Part& part : parts) read += is_whole(part) ? 0 : part.elements * Width(node);
    made = Emit("cat", MathKind::kCopy, node, Out(node), Out(node), {0, 0, read, bytes, 0});
    reads_parts(false);
  }
  const double adds = wholes - (pieces > 0 ? 0 : 1);
  for (int add = 0; add < static_cast<int>(adds); ++add) {
    const NodeId sum = Emit("add", MathKind::kElementwise, node, Out(node), Out(node),
                            {whole, 0, 2 * bytes, bytes, 0});
    if (made != kNoNode) Reads(sum, made);
    made = sum;
    if (add == 0) reads_parts(true);
  }
  return made;
}

void Backward::MirrorOperation(NodeId node) {
  if (!trained_[node] || parts_[node].empty()) return;
  const MathKind kind = *whole_.nodes[node].kind;
  const NodeId gradient = Collect(node);
  switch (kind) {
    case MathKind::kMatmul:
    case MathKind::kConvolution:
      return BackThroughProduct(node, gradient);
    case MathKind::kBatchedMatmul:
      return BackThroughProducts(node, gradient);
    case MathKind::kAttention:
      return BackThroughFused(node, gradient);
    case MathKind::kElementwise:
    case MathKind::kSoftmax:
      return BackThroughElementwise(node, gradient);
    case MathKind::kCopy:
      return BackThroughCopy(node, gradient);
    case MathKind::kGather:
      return BackThroughTable(node, gradient);
    case MathKind::kNorm:
      return BackThroughNorm(node, gradient);
    case MathKind::kReduce:
      return BackThroughReduction(node, gradient);
    case MathKind::kSend:
    case MathKind::kView:
      return;
  }
}

// y = x W + b.
void Backward::BackThroughProduct(NodeId node, NodeId gradient) {
  const DescribedNode of = whole_.nodes[node];
  const Shape in = In(node);
  const Shape out = Out(node);
  const double matmul = of.work.matmul_flops / of.runs;
  const double out_bytes = OutBytes(node);
  const double in_bytes = in.Elements() * Width(node);
  const double has_bias = of.work.flops > of.work.matmul_flops ? 1 : 0;
  const double bias_bytes = has_bias * out.Last() * Width(node);
  const double weights = std::max(0.0, of.work.bytes_read / of.runs - in_bytes - bias_bytes);
  for (const NodeId maker : TrainedMakers(node)) {
    const NodeId made = Emit("grad_input", *of.kind, node, out, in,
                             {matmul, matmul, out_bytes + weights, in_bytes, 0});
    Reads(made, gradient);
    Give(maker, made, PartFor(node, maker));
  }
  const double rows = in.Elements() / in.Last();
  const NodeId weight =
      Emit("grad_weight", *of.kind, node, ShapeOf({in.Last(), rows}),
           ShapeOf({in.Last(), out.Last()}), {matmul, matmul, out_bytes + in_bytes, weights, 0});
  Reads(weight, gradient);
  for (const NodeId saved : SavedBy(node)) Reads(weight, Remembered(saved));
  if (has_bias == 0) return;
  const NodeId bias = Emit("grad_bias", MathKind::kReduce, node, out, ShapeOf({out.Last()}),
                           {out.Elements(), 0, out_bytes, bias_bytes, 0});
  Reads(bias, gradient);
}

// For products of two activations.
void Backward::BackThroughProducts(NodeId node, NodeId gradient) {
  const DescribedNode of = whole_.nodes[node];
  const std::vector<NodeId> trained = TrainedMakers(node);
  const double matmul = of.work.matmul_flops / of.runs;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const Shape given = In(node, side);
    const Shape other = In(node, 1 - side);
    const NodeId made = Emit(side == 0 ? "grad_left" : "grad_right", *of.kind, node,
                             side == 0 ? Out(node) : other, given,
                             {matmul, matmul, OutBytes(node) + other.Elements() * Width(node),
                              given.Elements() * Width(node), 0});
    Reads(made, gradient);
    // Those that are read first were made first.
    const NodeId maker = side == 0 ? trained.front() : trained.back();
    for (const NodeId saved : SavedBy(node)) {
      if (saved != maker || trained.size() == 1) Reads(made, Remembered(saved));
    }
    Give(maker, made, given.Elements());
  }
}

void Backward::BackThroughFused(NodeId node, NodeId gradient) {
  const DescribedNode of = whole_.nodes[node];
  Work work;
  work.matmul_flops = kFusedProducts * of.work.matmul_flops / of.runs;
  work.flops =
      work.matmul_flops + kFusedProducts * (of.work.flops - of.work.matmul_flops) / of.runs;
  double inputs = 0;
  for (uint8_t at = 0; at < of.input_count; ++at) inputs += In(node, at).Elements() * Width(node);
  work.bytes_read = of.work.bytes_read / of.runs + 2 * OutBytes(node);
  work.bytes_written = inputs;
  const NodeId made =
      Emit("scaled_dot_product_attention_backward", *of.kind, node, Out(node), In(node), work);
  Reads(made, gradient);
  for (const NodeId saved : SavedBy(node)) Reads(made, Remembered(saved));
  for (const NodeId maker : TrainedMakers(node)) Give(maker, made, PartFor(node, maker));
}

void Backward::BackThroughElementwise(NodeId node, NodeId gradient) {
  const DescribedNode of = whole_.nodes[node];
  const std::string type(TypeOf(node));
  const double out_bytes = OutBytes(node);
  const std::vector<NodeId> trained = TrainedMakers(node);
  const bool has_weights = HasWeight(node);
  for (const NodeId maker : trained) {
    const double elements = Out(maker).Elements();
    const bool broadcast = elements < Out(node).Elements() && PartFor(node, maker) == elements;
    NodeId made = gradient;
    if (type != "add") {
      double read = out_bytes;
      std::vector<NodeId> saved;
      for (const NodeId one : SavedBy(node)) {
        const bool is_own_factor =
            (type == "mul" || type == "div") && one == maker && trained.size() > 1;
        if (!is_own_factor) saved.push_back(one);
      }
      if (has_weights) std::erase(saved, maker);
      for (const NodeId one : saved) read += OutBytes(one);
      if (has_weights) read += Out(node).Last() * Width(node);
      made = Emit(type + "_backward", *of.kind, node, Out(node), Out(node),
                  {of.work.flops / of.runs, 0, read, out_bytes, 0});
      Reads(made, gradient);
      for (const NodeId one : saved) Reads(made, Remembered(one));
    }
    if (broadcast) {
      const NodeId sum = Emit("sum", MathKind::kReduce, node, Out(node), Out(maker),
                              {Out(node).Elements(), 0, out_bytes, elements * Width(node), 0});
      Reads(sum, made);
      made = sum;
    }
    Give(maker, made, std::max(PartFor(node, maker), broadcast ? elements : 0));
  }
  if (!has_weights) return;
  const double width = Out(node).Last();
  const NodeId product = Emit("mul", MathKind::kElementwise, node, Out(node), Out(node),
                              {Out(node).Elements(), 0, 2 * out_bytes, out_bytes, 0});
  Reads(product, gradient);
  for (const NodeId maker : trained) Reads(product, Remembered(maker));
  const NodeId sum = Emit("grad_weight", MathKind::kReduce, node, Out(node), ShapeOf({width}),
                          {Out(node).Elements(), 0, out_bytes, width * Width(node), 0});
  Reads(sum, product);
}

void Backward::BackThroughCopy(NodeId node, NodeId gradient) {
  const std::string type(TypeOf(node));
  const Shape out = Out(node);
  for (const NodeId maker : TrainedMakers(node)) {
    const double part = PartFor(node, maker);
    if (type == "cat") {
      Give(maker, gradient, part);  // a view of it
      continue;
    }
    const bool repeated = out.Elements() > In(node).Elements();
    const double in_bytes = In(node).Elements() * Width(node);
    const double read = type == "index" ? in_bytes : OutBytes(node);
    const NodeId made = repeated ? Emit("sum", MathKind::kReduce, node, out, In(node),
                                        {out.Elements(), 0, OutBytes(node), in_bytes, 0})
                                 : Emit(type + "_backward", MathKind::kCopy, node, out, In(node),
                                        {0, 0, read, in_bytes, 0});
    Reads(made, gradient);
    Give(maker, made, part);
  }
}

void Backward::BackThroughTable(NodeId node, NodeId gradient) {
  const double rows = static_cast<double>(whole_.nodes[whole_.tree.nodes[node].parent].parameters);
  const double table = rows * Width(node);
  const double read = OutBytes(node) + In(node).Elements() * 8;
  const NodeId made = Emit("embedding_backward", MathKind::kGather, node, Out(node),
                           ShapeOf({rows / Out(node).Last(), Out(node).Last()}),
                           {Out(node).Elements(), 0, read, table, 0});
  Reads(made, gradient);
}

void Backward::BackThroughNorm(NodeId node, NodeId gradient) {
  const DescribedNode of = whole_.nodes[node];
  const double bytes = OutBytes(node);
  const double width = Out(node).Last() * Width(node);
  for (const NodeId maker : TrainedMakers(node)) {
    const NodeId made = Emit("layer_norm_backward", MathKind::kNorm, node, Out(node), In(node),
                             {of.work.flops / of.runs, 0, 2 * bytes + width, bytes, 0});
    Reads(made, gradient);
    for (const NodeId saved : SavedBy(node)) Reads(made, Remembered(saved));
    Give(maker, made, PartFor(node, maker));
  }
  const NodeId weight =
      Emit("grad_weight", MathKind::kReduce, node, Out(node), ShapeOf({2 * Out(node).Last()}),
           {2 * Out(node).Elements(), 0, 2 * bytes, 2 * width, 0});
  Reads(weight, gradient);
  for (const NodeId saved : SavedBy(node)) Reads(weight, Remembered(saved));
}

void Backward::BackThroughReduction(NodeId node, NodeId gradient) {
  const std::string type(TypeOf(node));
  // Only the loss makes something that is as large as what was reduced; the others are views.
  const Shape wide = type == "nll_loss" ? In(node) : Out(node);
  const double bytes = wide.Elements() * Width(node);
  for (const NodeId maker : TrainedMakers(node)) {
    const NodeId made = Emit(type + "_backward", MathKind::kElementwise, node, wide, wide,
                             {wide.Elements(), 0, OutBytes(node), bytes, 0});
    Reads(made, gradient);
    Give(maker, made, type == "nll_loss" ? PartFor(node, maker) : Out(maker).Elements());
  }
}

}  // namespace beryl::models
