#include "learn/describe/operations.h"

#include <algorithm>
#include <optional>

namespace beryl::learn {
namespace {

struct Kinds {
  std::optional<DeviceKind> device;  // empty: no kernel
  std::optional<HostKind> host;
};

// Transfers between GPUs were never measured; they move bytes like a copy. A convolution of patches
// is a matrix product; fused attention is two products of activations.
Kinds KindsOf(MathKind kind) {
  switch (kind) {
    case MathKind::kMatmul:
    case MathKind::kConvolution:
      return {DeviceKind::kMatmul, HostKind::kMatmul};
    case MathKind::kBatchedMatmul:
    case MathKind::kAttention:
      return {DeviceKind::kBatchedMatmul, HostKind::kBatchedMatmul};
    case MathKind::kNorm:
      return {DeviceKind::kNorm, HostKind::kNorm};
    case MathKind::kGather:
      return {DeviceKind::kGather, HostKind::kGather};
    case MathKind::kSoftmax:
      return {DeviceKind::kSoftmax, HostKind::kSoftmax};
    case MathKind::kElementwise:
    case MathKind::kReduce:
      return {DeviceKind::kElementwise, HostKind::kElementwise};
    case MathKind::kCopy:
    case MathKind::kSend:
      return {DeviceKind::kCopy, HostKind::kElementwise};
    case MathKind::kView:
      return {std::nullopt, HostKind::kView};
  }
  return {};
}

void AddKernel(DeviceWork& device, DeviceKind kind, double kernels, double flops, double bytes) {
  double* at = &device[3 * static_cast<size_t>(kind)];
  at[0] += kernels;
  at[1] += flops;
  at[2] += bytes;
}

// One math operation, over all its runs.
class Operation {
 public:
  Operation(const Description& description, NodeId node)
      : node_(description.nodes[node]),
        shapes_(description.shapes.data() + node_.first_shape),
        type_(description.tree.nodes[description.tree.nodes[node].parent].type) {}

  MathKind kind() const { return *node_.kind; }
  double runs() const { return node_.runs; }
  const Shape& Input(size_t i) const { return shapes_[i]; }
  const Shape& Output() const { return shapes_[node_.input_count]; }

  void AddTo(DeviceWork& device, HostWork& host) const {
    const Kinds kinds = KindsOf(*node_.kind);
    if (kinds.host) host[static_cast<size_t>(*kinds.host)] += node_.runs;
    if (!kinds.device) return;
    const bool broadcast = *node_.kind == MathKind::kElementwise && HasSmallInput();
    const double bias = *node_.kind == MathKind::kMatmul || *node_.kind == MathKind::kConvolution
                            ? node_.work.flops - node_.work.matmul_flops
                            : 0;
    AddKernel(device, broadcast ? DeviceKind::kBroadcast : *kinds.device, node_.runs,
              node_.work.flops - bias, node_.work.Bytes());
    if (bias > 0) {
      // Another kernel brings in the bias. It adds it to the product: one pass that reads the
      // output and one that writes it. Or it is fused: a copy of the bias fills the output first,
      // and the product reads that and adds to it. Both move the output twice and add once.
      AddKernel(device, DeviceKind::kBroadcast, node_.runs, bias, 2 * bias * Width());
    }
  }

  // In 2021, a product of two-dimensional tensors took its bias as an argument (addmm); a product
  // of more dimensions did not.
  bool IsFused() const {
    return type_ == "Conv1D" || (node_.input_count > 0 && Input(0).rank == 2);
  }

  double Width() const {
    const double elements = Output().Elements() * node_.runs;
    return elements > 0 ? node_.work.bytes_written / elements : 4;
  }

 private:
  bool HasSmallInput() const {
    const double size = Output().Elements();
    for (uint8_t i = 0; i < node_.input_count; ++i) {
      if (Input(i).Elements() < size) return node_.input_count > 1;
    }
    return false;
  }

  const DescribedNode& node_;
  const Shape* shapes_;
  const std::string& type_;
};

// The only kernel of a primitive; empty if it has none or several.
std::optional<NodeId> OnlyKernel(const Description& description, NodeId node) {
  std::optional<NodeId> only;
  const auto& nodes = description.tree.nodes;
  for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
    const auto kind = description.nodes[child].kind;
    if (!kind || *kind == MathKind::kView || *kind == MathKind::kSend) continue;
    if (only) return std::nullopt;
    only = child;
  }
  return only;
}

std::optional<uint8_t> GroupOf(MathKind kind) {
  const Kinds kinds = KindsOf(kind);
  if (!kinds.device || kind == MathKind::kAttention || kind == MathKind::kConvolution) {
    return std::nullopt;
  }
  const auto group = static_cast<uint8_t>(*kinds.device);
  return group < kPrimitiveGroups ? std::optional(group) : std::nullopt;
}

std::array<double, 4> SizesOf(const Operation& operation) {
  const Shape& output = operation.Output();
  const double columns = output.Last();
  switch (operation.kind()) {
    case MathKind::kMatmul:
      return {1, output.Elements() / columns, columns, operation.Input(0).Last()};
    case MathKind::kBatchedMatmul: {
      // The data gives both products of attention the same size and nothing distinguishes them.
      const Shape& left = operation.Input(0);
      const double depth = left.Last();
      const double rows = static_cast<double>(left.dims[left.rank - size_t{2}]);
      std::array<double, 3> sizes = {rows, columns, depth};
      std::sort(sizes.begin(), sizes.end());
      return {output.Elements() / (rows * columns), sizes[0], sizes[1], sizes[2]};
    }
    case MathKind::kElementwise:
      return {1, 1, output.Elements(), 1};
    default:
      return {1, output.Elements() / columns, columns, 1};
  }
}

}  // namespace

uint32_t OperationCounter::Intern(Primitive primitive) {
  const auto at = std::find(primitives_.begin(), primitives_.end(), primitive);
  const auto index = static_cast<uint32_t>(at - primitives_.begin());
  if (at == primitives_.end()) primitives_.push_back(std::move(primitive));
  return index;
}

std::vector<NodeOperations> OperationCounter::Count(const Description& description) {
  const auto& nodes = description.tree.nodes;
  std::vector<NodeOperations> counted(nodes.size());
  for (NodeId node = static_cast<NodeId>(nodes.size()); node-- > 0;) {
    NodeOperations& of = counted[node];
    const double runs = description.nodes[node].runs;
    // Autograd and the optimizer call no modules.
    const bool of_autograd = description.nodes[node].phase == RunPhase::kBackward ||
                             description.nodes[node].phase == RunPhase::kOptimizer;
    if (nodes[node].level == Level::kMath) {
      Operation(description, node).AddTo(of.own, of.host);
    } else if (nodes[node].level == Level::kMl) {
      const auto kernel = OnlyKernel(description, node);
      const auto group = kernel ? GroupOf(*description.nodes[*kernel].kind) : std::nullopt;
      if (group && runs > 0) {
        const Operation operation(description, *kernel);
        Primitive primitive;
        primitive.group = *group;
        primitive.type = nodes[node].type;
        if (operation.kind() == MathKind::kMatmul && operation.IsFused())
          primitive.type += ", fused";
        primitive.sizes = SizesOf(operation);
        for (size_t i = 0; i < of.own.size(); ++i) primitive.device[i] = of.own[i] / runs;
        for (size_t i = 0; i < of.host.size(); ++i) primitive.host[i] = of.host[i] / runs;
        // Products of activations, like activations then, are function calls; everything else is a
        // module.
        const bool called = operation.kind() != MathKind::kBatchedMatmul &&
                            operation.kind() != MathKind::kElementwise && !of_autograd;
        if (called) {
          primitive.host[kCallOfHost] += 1;
          of.host[kCallOfHost] += runs;
        }
        of.primitive = true;
        of.own = {};
        of.primitives = {{Intern(std::move(primitive)), runs}};
      }
    } else if (runs > 0 && !of_autograd) {
      of.host[kCallOfHost] += runs;
    }
    if (node == 0) break;
    NodeOperations& parent = counted[nodes[node].parent];
    Add(parent.host, of.host);
    Add(parent.own, of.own);
    for (const auto& [index, times] : of.primitives) {
      // An elementwise primitive on its own is what was measured; inside a module it is one of
      // many.
      if (primitives_[index].group == static_cast<uint8_t>(DeviceKind::kElementwise)) {
        Add(parent.own, primitives_[index].device, times);
        continue;
      }
      const auto at =
          std::lower_bound(parent.primitives.begin(), parent.primitives.end(), index,
                           [](const auto& entry, uint32_t wanted) { return entry.first < wanted; });
      if (at != parent.primitives.end() && at->first == index) {
        at->second += times;
      } else {
        parent.primitives.insert(at, {index, times});
      }
    }
  }
  return counted;
}

}  // namespace beryl::learn
