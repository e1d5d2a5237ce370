// A small description to test views with: two layers that are alike and one that is not.
#pragma once

#include <string>
#include <utility>

#include "types/described_prediction.h"

namespace beryl::views {

class DescriptionBuilder {
 public:
  DescriptionBuilder() {
    description.model = "tiny";
    description.family = "bert";
    description.input.seq = 4;
    description.provenance.tool = "beryl 0.0.0";
    description.notes = {{NoteKind::kAssumedTokens, "", {128}}};
  }

  NodeId Add(NodeId parent, Level level, std::string name, std::string type, double flops,
             uint64_t parameters = 0) {
    const auto id = static_cast<NodeId>(description.tree.nodes.size());
    TreeNode node;
    node.parent = parent;
    node.end = id + 1;
    node.level = level;
    node.name = std::move(name);
    node.type = std::move(type);
    if (id > 0) node.depth = static_cast<uint16_t>(description.tree.nodes[parent].depth + 1);
    description.tree.nodes.push_back(std::move(node));
    DescribedNode described;
    described.work = {flops, flops / 2, flops / 4, flops / 4, 0};
    described.parameters = parameters;
    if (level == Level::kMath) described.kind = MathKind::kMatmul;
    description.nodes.push_back(described);
    for (NodeId above = parent; above != id; above = description.tree.nodes[above].parent) {
      description.tree.nodes[above].end = id + 1;
      if (above == 0) break;
    }
    return id;
  }

  // A layer with one primitive and its math operation.
  void AddLayer(NodeId parent, int number, double flops) {
    const NodeId layer =
        Add(parent, Level::kModule, "layer." + std::to_string(number), "Layer", flops, 10);
    const NodeId dense = Add(layer, Level::kMl, "dense", "Linear", flops, 10);
    Add(dense, Level::kMath, "addmm", "addmm", flops);
    Add(layer, Level::kMl, "dropout", "Dropout", 0);
  }

  Description description;
};

inline Description ThreeLayers() {
  DescriptionBuilder builder;
  const NodeId root = builder.Add(0, Level::kModel, "tiny", "TinyModel", 250, 30);
  builder.AddLayer(root, 0, 100);
  builder.AddLayer(root, 1, 50);
  builder.AddLayer(root, 2, 100);
  return builder.description;
}

// As it is shown: the work of every node, nothing folded.
inline ShownTree ShowLayers(const Description& description) {
  TreeColumns tree;
  tree.tree = description.tree;
  Column flops;
  flops.name = flops.key = flops.label = "flops";
  flops.quantity = Quantity::kFlops;
  flops.origin = Origin::kDescribed;
  Column bytes = flops;
  bytes.name = bytes.key = bytes.label = "bytes";
  bytes.quantity = Quantity::kBytes;
  for (const DescribedNode& node : description.nodes) {
    flops.total.push_back(node.work.flops);
    bytes.total.push_back(node.work.Bytes());
  }
  Column intensity = flops;
  intensity.name = intensity.key = intensity.label = "flops_per_byte";
  intensity.quantity = Quantity::kFlopsPerByte;
  intensity.total = Divide(flops.total, bytes.total);
  tree.columns = {flops, bytes, intensity};
  return {tree, tree};
}

inline DescribedPrediction ThreePredictedLayers() {
  DescribedPrediction prediction;
  prediction.provenance.tool = "beryl 0.0.0";
  prediction.description = ThreeLayers();
  prediction.profile = "a-machine";
  for (const DescribedNode& node : prediction.description.nodes) {
    const double joules = node.work.flops;
    prediction.energy.total.push_back(joules);
    prediction.energy.self.push_back(0);
    prediction.energy.low.push_back(0.9 * joules);
    prediction.energy.high.push_back(1.1 * joules);
    prediction.seconds.push_back(joules / 100);
    prediction.energy.marked.push_back(joules == 50);
  }
  prediction.energy.name = prediction.energy.label = "energy";
  prediction.energy.key = "energy_j";
  prediction.energy.marked_because = "beyond what the profile was trained on";
  prediction.tree = ShowLayers(prediction.description);
  for (TreeColumns* tree : {&prediction.tree.whole, &prediction.tree.folded}) {
    tree->columns.insert(tree->columns.begin(),
                         {prediction.energy, ShareOf(prediction.energy, "share")});
  }
  return prediction;
}

}  // namespace beryl::views
