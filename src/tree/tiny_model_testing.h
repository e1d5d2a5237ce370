// A small model and a run of it, for the tests of alignments.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tree/tree.h"
#include "tree/tree_testing.h"
#include "types/unknown.h"

namespace beryl::tree {

// A model of two layers with a product each, [batch x 4] x [4 x 4] with a bias, and a head.
class TinyModel {
 public:
  // `activation`: layer.0 has an activation module, too.
  explicit TinyModel(bool activation = false) {
    Add(0, Level::kModel, "tiny", "TinyModel", "", 0, 0);
    for (const char* layer : {"layer.0", "layer.1"}) {
      const NodeId at = Add(0, Level::kModule, layer, "Layer", layer, 72, 20);
      const NodeId dense =
          Add(at, Level::kMl, "dense", "Linear", std::string(layer) + ".dense", 72, 20);
      ops_.push_back(
          Add(dense, Level::kMath, "addmm", "addmm", std::string(layer) + ".dense", 72, 0));
      Add(at, Level::kMl, "MatMul", "MatMul", layer, 0, 0);
      Add(at, Level::kMath, "gelu", "gelu", layer, 0, 0);
      if (std::exchange(activation, false)) {
        Add(at, Level::kMl, "act", "Act", std::string(layer) + ".act", 10, 0);
      }
    }
    const NodeId head = Add(0, Level::kMl, "head", "Linear", "head", 36, 12);
    ops_.push_back(Add(head, Level::kMath, "addmm", "addmm", "head", 36, 0));
    description_.nodes[0].work.flops = 180;
    description_.flows = {{ops_[0], ops_[1]}, {ops_[1], ops_[2]}};
    description_.model = "tiny.json";
    description_.input.batch = 2;
  }

  const Description& description() {
    CloseTree(description_.tree);
    return description_;
  }

  NodeId Add(NodeId parent, Level level, std::string name, std::string type, std::string scope,
             double flops, uint64_t parameters) {
    const NodeId id = description_.tree.size();
    TreeNode& node = description_.tree.nodes.emplace_back();
    node.parent = parent;
    node.level = level;
    node.name = std::move(name);
    node.type = std::move(type);
    DescribedNode& of = description_.nodes.emplace_back();
    of.scope = std::move(scope);
    of.work.flops = flops;
    of.work.matmul_flops = flops * 8 / 9;  // the rest adds a bias
    of.work.bytes_read = flops / 2;
    of.parameters = parameters;
    if (level == Level::kMath) of.kind = MathKind::kMatmul;
    return id;
  }

 private:
  Description description_;
  std::vector<NodeId> ops_;
};

// Three passes of it, the second layer's module seen first in a wrapper.
class TinyRun {
 public:
  TinyRun() {
    const std::string model = "Tiny_0<TinyModel>/";
    AddOp(model + "Layer_0<Layer>/Linear_0<Linear>/aten::linear", "[[2, 4], [4, 4], [4]]", 1);
    AddOp(model + "Wrapper_0<Wrapper>/Layer_1<Layer>/Linear_1<Linear>/aten::linear",
          "[[2, 4], [4, 4], [4]]", 2);
    AddOp(model + "Linear_2<Linear>/aten::linear", "[[2, 4], [2, 4], [4]]", 4);
    AddOp(model + "CrossEntropyLoss_0<CrossEntropyLoss>/aten::nll", "", 8);
    AddOp(model + "Extra_0<Extra>/aten::add", "", 16);
    AddOp("aten::sgd", "", 32);
  }

  ModelOfRun Align(TinyModel model = TinyModel()) {
    built_ = Build(maker_.trace());
    return AlignModel(maker_.trace(), maker_.footprint(), model.description(),
                      DescribedColumns(model.description(), Detail::kAll), built_);
  }
  TraceTree& built() { return built_; }
  TraceMaker& maker() { return maker_; }

 private:
  void AddOp(const std::string& path, const std::string& shapes, double joules) {
    const uint32_t kind = maker_.Kind(path);
    OpTrace& trace = maker_.trace();
    trace.kinds[kind].shapes = trace.strings.Intern(shapes);
    trace.kinds[kind].type = trace.strings.Intern(path.substr(path.rfind('/') + 1));
    maker_.Share(kind, joules);
    for (int pass = 0; pass < 3; ++pass) {
      Op op;
      op.kind = kind;
      maker_.trace().ops.push_back(op);
    }
  }

  TraceMaker maker_;
  TraceTree built_;
};

inline double At(const ModelOfRun& model, const char* column, NodeId node) {
  for (const Column& one : model.beside.columns) {
    if (one.name == column) return one.total[node];
  }
  return kUnknown;
}

}  // namespace beryl::tree
