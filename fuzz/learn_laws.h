// Laws for every data set, whatever it was read from.
#pragma once

#include <cmath>

#include "require.h"
#include "types/dataset.h"

namespace beryl::fuzz {

inline void CheckTree(const ModelTree& tree) {
  Require(!tree.nodes.empty(), "a tree has a root");
  Require(tree.nodes[0].end == tree.nodes.size(), "everything is below the root");
  for (NodeId i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    Require(node.end > i && node.end <= tree.nodes.size(), "a node ends behind itself");
    Require(!node.name.empty(), "a node has a name");
    if (i == 0) continue;
    const TreeNode& parent = tree.nodes[node.parent];
    Require(node.parent < i && node.end <= parent.end, "a node is within its parent");
    Require(node.depth == parent.depth + 1, "a node is one deeper than its parent");
  }
}

inline void CheckDataset(const Dataset& data) {
  Require(!data.runs.empty(), "a data set has a run");
  for (const ModelRun& run : data.runs) {
    CheckTree(run.tree);
    Require(!run.model.empty(), "a run has a model");
    Require(run.features.size() == run.tree.nodes.size(), "features for every node");
    Require(run.measured.size() == run.tree.nodes.size(), "energy for every node");
    Require(run.lines.size() == run.tree.nodes.size(), "a line for every node");
    for (const double energy : run.measured) {
      Require(std::isnan(energy) || (std::isfinite(energy) && energy > 0), "energy is positive");
    }
    for (const FeatureRow& row : run.features) {
      for (const double value : row) {
        Require(std::isnan(value) || (std::isfinite(value) && value >= 0), "features are usable");
      }
    }
  }
  for (const Note& note : data.notes) {
    Require(!note.first.empty() && note.count > 0, "a note says where and how often");
  }
}

}  // namespace beryl::fuzz
