// A Dataset laid out for learning: every distinct measurement once, and the trees that point at
// them. Layers with the same signature share one measurement in the data, so there are ten times
// fewer of these than nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "learn/operations.h"
#include "types/dataset.h"

namespace beryl::learn {

inline constexpr uint32_t kUndescribed = ~uint32_t{0};

struct Measurement {
  FeatureRow features;
  double measured = kUnknown;  // joules
  uint32_t model = 0;          // index into Measurements::models
  uint32_t type = 0;           // index into Measurements::types
  uint8_t level = 0;           // index into kDataLevels
  uint32_t count = 0;          // nodes that share it
  // Index into Measurements::operations; kUndescribed: its model has no description, or that has
  // no such node.
  uint32_t operations = kUndescribed;
};

struct MeasuredNode {
  uint32_t row = 0;     // index into Measurements::rows
  uint32_t parent = 0;  // index into Measurements::nodes; of a root: itself
  bool leaf = true;
};

struct MeasuredTree {
  uint32_t begin = 0;  // of its nodes, in pre-order
  uint32_t end = 0;
  uint32_t model = 0;
  bool complete = true;   // no row is missing
  bool trainable = true;  // nor anything else: every node has features and measured energy
};

struct Measurements {
  std::vector<std::string> models;
  std::vector<std::string> types;       // in lower case
  std::vector<std::string> type_names;  // as first written
  std::vector<Measurement> rows;
  std::vector<MeasuredNode> nodes;
  std::vector<MeasuredTree> trees;  // one a run, in the order of Dataset::runs
  // What the nodes of described runs are made of; empty where none is.
  std::vector<NodeOperations> operations;
  std::vector<Primitive> primitives;
};

Measurements Gather(const Dataset& data);

inline constexpr uint8_t kPrimitiveLevel = 0;  // position in kDataLevels

}  // namespace beryl::learn
