// How the backward pass is appended to the tree.
#include "models/backward.h"

namespace beryl::models {

NodeId Backward::Open(const std::string& name, const std::string& type, Level level, NodeId like) {
  const auto id = static_cast<NodeId>(whole_.tree.nodes.size());
  TreeNode node;
  node.parent = open_.empty() ? 0 : open_.back();
  node.depth = static_cast<uint16_t>(whole_.tree.nodes[node.parent].depth + 1);
  node.end = id + 1;
  node.level = level;
  node.name = name;
  node.type = type;
  DescribedNode described;
  described.scope = whole_.nodes[like].scope;
  described.phase = RunPhase::kBackward;
  described.runs = whole_.nodes[like].runs;
  // What went out comes in, and the reverse.
  described.first_shape = static_cast<uint32_t>(whole_.shapes.size());
  const DescribedNode& of = whole_.nodes[like];
  for (uint8_t at = 0; at < of.output_count; ++at) {
    const Shape shape = whole_.shapes[of.first_shape + of.input_count + size_t{at}];
    whole_.shapes.push_back(shape);
  }
  for (uint8_t at = 0; at < of.input_count; ++at) {
    const Shape shape = whole_.shapes[of.first_shape + size_t{at}];
    whole_.shapes.push_back(shape);
  }
  described.input_count = of.output_count;
  described.output_count = of.input_count;
  whole_.tree.nodes.push_back(std::move(node));
  whole_.nodes.push_back(std::move(described));
  open_.push_back(id);
  return id;
}

void Backward::Close() {
  whole_.tree.nodes[open_.back()].end = static_cast<NodeId>(whole_.tree.nodes.size());
  open_.pop_back();
}

NodeId Backward::Emit(std::string_view name, MathKind kind, NodeId of, const Shape& input,
                      const Shape& output, const Work& work) {
  const Shape in = input;  // may be one of those that are about to move
  const Shape out = output;
  const NodeId id = Open(std::string(name), std::string(name), Level::kMath, of);
  DescribedNode& made = whole_.nodes[id];
  made.kind = kind;
  made.work = work * made.runs;
  made.first_shape = static_cast<uint32_t>(whole_.shapes.size());
  made.input_count = made.output_count = 1;
  whole_.shapes.push_back(in);
  whole_.shapes.push_back(out);
  Close();
  return id;
}

void Backward::Reads(NodeId operation, NodeId result) {
  if (result != kNoNode) whole_.flows.push_back({result, operation});
}

}  // namespace beryl::models
