// A Dataset arranged for learning: each distinct measurement once, and trees that refer to them.
// Layers with the same signature share one measurement, so there are ten times fewer measurements
// than nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/describe/operations.h"
#include "types/dataset.h"

namespace beryl::learn {

inline constexpr uint32_t kUndescribed = ~uint32_t{0};

struct MeasuredRow {
  FeatureRow features;
  double measured = kUnknown;  // joules
  uint32_t model = 0;          // index into Measurements::models
  uint32_t type = 0;           // index into Measurements::types
  uint8_t level = 0;           // index into kDataLevels
  uint32_t count = 0;          // nodes that share this row
  // Index into Measurements::operations; kUndescribed: the model has no description, or the
  // description has no such node.
  uint32_t operations = kUndescribed;
};

struct MeasuredNode {
  uint32_t row = 0;     // index into Measurements::rows
  uint32_t parent = 0;  // index into Measurements::nodes; a root is its own parent
  bool leaf = true;
};

struct MeasuredTree {
  uint32_t begin = 0;  // first of its nodes, in pre-order
  uint32_t end = 0;
  uint32_t model = 0;
  bool complete = true;   // no row is missing
  bool trainable = true;  // complete, and every node has features and measured energy
};

struct Measurements {
  std::vector<std::string> models;
  std::vector<std::string> types;       // in lower case
  std::vector<std::string> type_names;  // as first written
  std::vector<MeasuredRow> rows;
  std::vector<MeasuredNode> nodes;
  std::vector<MeasuredTree> trees;  // one per run, in the order of Dataset::runs
  // The operations of described nodes; empty if no run is described.
  std::vector<NodeOperations> operations;
  std::vector<Primitive> primitives;
};

Measurements Gather(const Dataset& data);

inline constexpr uint8_t kPrimitiveLevel = 0;  // position in kDataLevels

// Indexed like Measurements::models.
using ModelChoice = std::vector<bool>;

bool KnowsAll(const FeatureRow& row, const std::vector<Feature>& features);

// Rows of the chosen models that have energy and every feature.
std::vector<uint32_t> UsableRows(const Measurements& all, const ModelChoice& models,
                                 const std::vector<Feature>& features);

// The value of `of_row` for the row of each node; NaN for models that are not chosen.
template <typename OfRow>
std::vector<double> ByNode(const Measurements& all, const ModelChoice& models, OfRow&& of_row) {
  std::vector<double> by_row(all.rows.size(), kUnknown);
  for (size_t i = 0; i < all.rows.size(); ++i) {
    if (models[all.rows[i].model]) by_row[i] = of_row(all.rows[i]);
  }
  std::vector<double> by_node;
  by_node.reserve(all.nodes.size());
  for (const MeasuredNode& node : all.nodes) by_node.push_back(by_row[node.row]);
  return by_node;
}

}  // namespace beryl::learn
