// A small data set for tests of energy use.
#pragma once

#include <string>
#include <utility>

#include "types/dataset.h"

namespace beryl::analyze {

// Adds a node below `parent`, which must be the last node or one of its ancestors.
inline NodeId AddNode(ModelRun& run, NodeId parent, Level level, std::string name, std::string type,
                      double joules) {
  const auto id = static_cast<NodeId>(run.tree.nodes.size());
  TreeNode node;
  node.parent = parent;
  node.end = id + 1;
  node.level = level;
  node.depth = id == 0 ? 0 : static_cast<uint16_t>(run.tree.nodes[parent].depth + 1);
  node.name = std::move(name);
  node.type = std::move(type);
  run.tree.nodes.push_back(std::move(node));
  run.measured.push_back(joules);
  run.features.push_back(UnknownFeatures());
  for (NodeId at = parent; id > 0; at = run.tree.nodes[at].parent) {
    run.tree.nodes[at].end = id + 1;
    if (at == 0) break;
  }
  return id;
}

// A model of `layers` blocks, each with a norm, an attention and an MLP. All energies are
// multiplied by `scale`.
inline ModelRun MakeRun(std::string model, double batch_size, double seq_len, double scale,
                        int layers = 3) {
  ModelRun run;
  run.batch_size = batch_size;
  run.seq_len = seq_len;
  AddNode(run, 0, Level::kModel, model, "", scale * (layers * 10 + 3));
  run.model = std::move(model);
  AddNode(run, 0, Level::kMl, "wte", "Embedding", scale * 1);
  for (int layer = 0; layer < layers; ++layer) {
    const NodeId block =
        AddNode(run, 0, Level::kModule, "h." + std::to_string(layer), "Block", scale * 10);
    AddNode(run, block, Level::kMl, "ln", "LayerNorm", scale * 1);
    const NodeId attention = AddNode(run, block, Level::kModule, "attn", "Attention", scale * 3);
    AddNode(run, attention, Level::kMl, "matmul", "MatMul", scale * 1);
    AddNode(run, attention, Level::kMl, "matmul", "MatMul", scale * 1.5);
    const NodeId mlp = AddNode(run, block, Level::kModule, "mlp", "MLP", scale * 5);
    AddNode(run, mlp, Level::kMl, "fc", "Linear", scale * 4);
  }
  return run;
}

}  // namespace beryl::analyze
