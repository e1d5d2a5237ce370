#include "models/training.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "models/backward.h"

namespace beryl::models {
namespace {

// Puts a description below a new root, as the phase that its nodes have.
Description AsPhase(Description phase) {
  Description whole;
  TreeNode root = phase.tree.nodes[0];
  root.end = phase.tree.size() + 1;
  const auto model = phase.nodes[0];
  for (NodeId node = 0; node < phase.tree.size(); ++node) {
    TreeNode& of = phase.tree.nodes[node];
    of.parent = node == 0 ? 0 : of.parent + 1;
    ++of.end;
    ++of.depth;
  }
  phase.tree.nodes[0].name = RunPhaseName(phase.nodes[0].phase);
  for (Flow& flow : phase.flows) flow = {flow.from + 1, flow.to + 1};
  whole = std::move(phase);
  whole.tree.nodes.insert(whole.tree.nodes.begin(), root);
  DescribedNode top;
  top.phase = RunPhase::kAll;
  top.parameters = model.parameters;
  top.first_shape = model.first_shape;
  top.input_count = model.input_count;
  top.output_count = model.output_count;
  whole.nodes.insert(whole.nodes.begin(), top);
  return whole;
}

// The weights, and what each operation of an optimizer over all of them reads and writes.
class Step {
 public:
  Step(Description& whole, double width) : whole_(whole), width_(width) {
    for (const Shape& weight : whole.weights) {
      const double elements = weight.Elements();
      numbers_ += elements;
      chunks_ += std::ceil(elements / kChunk);
      if (weight.rank < 2) continue;
      const double rows = elements / weight.Last();
      const double columns = elements / static_cast<double>(weight.dims[weight.rank - 2U]);
      matrices_ += elements;
      borders_ += rows + columns;
      matrix_count_ += 1;
    }
    tensors_ = static_cast<double>(whole.weights.size());
  }

  void Append(OptimizerKind optimizer) {
    static constexpr const char* kTypes[] = {"SGD", "Adam", "AdamW", "Adafactor"};
    phase_ = Node(0, "optimizer", kTypes[static_cast<size_t>(optimizer)], Level::kModule);
    switch (optimizer) {
      case OptimizerKind::kSgd:
        Over("add", 2, 1, 2);
        break;
      case OptimizerKind::kAdamw:
        Over("mul", 1, 1, 1);
        [[fallthrough]];
      case OptimizerKind::kAdam:
        Adam();
        break;
      case OptimizerKind::kAdafactor:
        Adafactor();
        break;
    }
    whole_.tree.nodes[phase_].end = whole_.tree.size();
    whole_.tree.nodes[0].end = whole_.tree.size();
  }

 private:
  // torch's foreach kernels take this many numbers of a tensor at a time, so many times a launch,
  // and so many tensors.
  static constexpr double kChunk = 65536;
  static constexpr double kChunksALaunch = 320;
  static constexpr double kTensorsALaunch = 36;

  void Adam() {
    Over("lerp", 2, 1, 3);
    Over("mul", 1, 1, 1);
    Over("addcmul", 2, 1, 3);
    const NodeId root = Over("sqrt", 1, 1, 1);
    Then(root, Over("div", 1, 1, 1));
    Then(root, Over("add", 1, 1, 1));
    Then(root, Over("addcdiv", 3, 1, 3));
  }

  // A tensor at a time; the step of the largest is what exists at once.
  void Adafactor() {
    const double vectors = numbers_ - matrices_;
    Each("norm", MathKind::kReduce, numbers_, 0, 2 * numbers_, tensors_);
    Each("mul", MathKind::kElementwise, numbers_, numbers_, numbers_, tensors_);
    for (const char* side : {"norm_rows", "norm_columns"}) {
      Each(side, MathKind::kReduce, matrices_, borders_ / 2, 2 * matrices_, matrix_count_);
    }
    Each("lerp", MathKind::kElementwise, 2 * borders_ + 2 * vectors, borders_ + vectors,
         3 * (borders_ + vectors), tensors_ + matrix_count_);
    Each("mm", MathKind::kBatchedMatmul, borders_, matrices_, 2 * matrices_, matrix_count_);
    Each("div", MathKind::kElementwise, matrices_, matrices_, matrices_, matrix_count_);
    for (const char* name : {"clamp", "rsqrt"}) {
      Each(name, MathKind::kElementwise, numbers_, numbers_, numbers_, tensors_);
    }
    Each("mul", MathKind::kElementwise, 2 * numbers_, numbers_, numbers_, tensors_);
    Each("norm", MathKind::kReduce, numbers_, 0, 2 * numbers_, tensors_);
    Each("add", MathKind::kElementwise, 2 * numbers_, numbers_, 2 * numbers_, tensors_);
  }

  // Reads and writes so many numbers for each weight.
  NodeId Over(const char* name, double reads, double writes, double flops) {
    const double launches =
        std::max(std::ceil(chunks_ / kChunksALaunch), std::ceil(tensors_ / kTensorsALaunch));
    return Each(name, MathKind::kElementwise, reads * numbers_, writes * numbers_, flops * numbers_,
                launches);
  }

  NodeId Each(const char* name, MathKind kind, double reads, double writes, double flops,
              double runs) {
    const NodeId id = Node(phase_, name, name, Level::kMath);
    DescribedNode& made = whole_.nodes[id];
    made.kind = kind;
    made.runs = runs;
    made.work = {flops, kind == MathKind::kBatchedMatmul ? flops : 0, reads * width_,
                 writes * width_, 0};
    made.first_shape = static_cast<uint32_t>(whole_.shapes.size());
    made.input_count = made.output_count = 1;
    Shape all;
    all.dims = {1, static_cast<int64_t>(numbers_), 0, 0, 0};
    all.rank = 2;
    whole_.shapes.push_back(all);
    whole_.shapes.push_back(all);
    return id;
  }

  void Then(NodeId from, NodeId to) { whole_.flows.push_back({from, to}); }

  NodeId Node(NodeId parent, const char* name, const char* type, Level level) {
    const auto id = whole_.tree.size();
    TreeNode node;
    node.parent = parent;
    node.depth = static_cast<uint16_t>(whole_.tree.nodes[parent].depth + 1);
    node.end = id + 1;
    node.level = level;
    node.name = name;
    node.type = type;
    whole_.tree.nodes.push_back(std::move(node));
    whole_.nodes.emplace_back().phase = RunPhase::kOptimizer;
    return id;
  }

  Description& whole_;
  double width_;
  double numbers_ = 0;   // weights,
  double matrices_ = 0;  // those in matrices,
  double borders_ = 0;   // and the rows and columns of these
  double tensors_ = 0;
  double matrix_count_ = 0;
  double chunks_ = 0;
  NodeId phase_ = 0;
};

}  // namespace

Description TrainingStep(Description forward, const Training& training) {
  const double width = ActivationWidth(forward.dtype);
  Description whole = AsPhase(std::move(forward));
  const auto backward = static_cast<NodeId>(whole.tree.nodes.size());
  Backward(whole, 1, training.checkpointing).Append();
  whole.tree.nodes[0].end = whole.tree.size();
  for (NodeId node = whole.tree.size(); node-- > backward + 1;) {
    DescribedNode& parent = whole.nodes[whole.tree.nodes[node].parent];
    parent.work += whole.nodes[node].work;
  }
  Step(whole, width).Append(training.optimizer);
  for (NodeId node = whole.tree.size(); whole.nodes[--node].kind;) {
    whole.nodes[whole.tree.nodes[node].parent].work += whole.nodes[node].work;
  }
  for (const NodeId phase : Children(whole.tree, 0)) whole.nodes[0].work += whole.nodes[phase].work;
  whole.training = training;
  return whole;
}

}  // namespace beryl::models
