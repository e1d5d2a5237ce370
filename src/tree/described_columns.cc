#include <utility>

#include "tree/derived_columns.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

Column Describe(const Description& description, std::string name, std::string label,
                Quantity quantity, double (*value)(const DescribedNode&)) {
  Column column;
  column.key = name;
  column.prefix = name + "_";
  column.name = std::move(name);
  column.label = std::move(label);
  column.quantity = quantity;
  column.origin = Origin::kDescribed;
  column.by = description.model;
  column.total.reserve(description.nodes.size());
  for (const DescribedNode& node : description.nodes) column.total.push_back(value(node));
  return column;
}

TextColumn TextOf(const Description& description, std::string key, TextColumn::Kind kind,
                  std::string (*value)(const Description&, const DescribedNode&)) {
  TextColumn column;
  column.key = column.label = std::move(key);
  column.kind = kind;
  column.values.reserve(description.nodes.size());
  for (const DescribedNode& node : description.nodes) {
    column.values.push_back(value(description, node));
  }
  return column;
}

std::string ShapesText(const Description& description, uint32_t first, uint32_t count) {
  std::string text;
  for (uint32_t at = first; at < first + count; ++at) {
    const Shape& shape = description.shapes[at];
    if (at > first) text += ';';
    for (uint8_t i = 0; i < shape.rank; ++i) {
      if (i > 0) text += 'x';
      text += std::to_string(shape.dims[i]);
    }
  }
  return text;
}

}  // namespace

TreeColumns DescribedColumns(const Description& description, Detail detail) {
  TreeColumns tree;
  tree.tree = description.tree;
  const bool all = detail == Detail::kAll;
  const bool sends = description.input.gpus > 1;
  const auto number = [&](const char* name, const char* label, Quantity quantity,
                          double (*value)(const DescribedNode&)) {
    tree.columns.push_back(Describe(description, name, label, quantity, value));
  };
  using Node = DescribedNode;
  number("flops", "FLOP", Quantity::kFlops, [](const Node& of) { return of.work.flops; });
  if (all) {
    number("matmul_flops", "matmul", Quantity::kFlops,
           [](const Node& of) { return of.work.matmul_flops; });
    number("bytes_read", "read", Quantity::kBytes,
           [](const Node& of) { return of.work.bytes_read; });
    number("bytes_written", "written", Quantity::kBytes,
           [](const Node& of) { return of.work.bytes_written; });
  }
  number("bytes", "moved", Quantity::kBytes, [](const Node& of) { return of.work.Bytes(); });
  if (sends) {
    number("bytes_sent", "sent", Quantity::kBytes,
           [](const Node& of) { return of.work.bytes_sent; });
  }
  number("parameters", "param.", Quantity::kParameters,
         [](const Node& of) { return static_cast<double>(of.parameters); });
  if (all) number("runs", "runs", Quantity::kCount, [](const Node& of) { return of.runs; });

  using Kind = TextColumn::Kind;
  const auto text = [&](const char* key, Kind kind,
                        std::string (*value)(const Description&, const Node&)) {
    tree.texts.push_back(TextOf(description, key, kind, value));
  };
  text("scope", Kind::kText, [](const Description&, const Node& of) { return of.scope; });
  text("phase", Kind::kText,
       [](const Description&, const Node& of) { return std::string(RunPhaseName(of.phase)); });
  if (!all) return tree;
  text("kind", Kind::kText, [](const Description&, const Node& of) {
    return of.kind ? std::string(MathKindName(*of.kind)) : "";
  });
  if (sends) {
    text("split", Kind::kYesNo,
         [](const Description&, const Node& of) { return std::string(of.split ? "yes" : ""); });
  }
  text("inputs", Kind::kShapes, [](const Description& in, const Node& of) {
    return ShapesText(in, of.first_shape, of.input_count);
  });
  text("outputs", Kind::kShapes, [](const Description& in, const Node& of) {
    return ShapesText(in, of.first_shape + of.input_count, of.output_count);
  });
  return tree;
}

TreeColumns PredictedColumns(const DescribedPrediction& prediction) {
  TreeColumns tree = DescribedColumns(prediction.description, Detail::kWork);
  Column energy = prediction.energy;
  energy.name = energy.label = "energy";
  energy.key = "energy_j";
  energy.prefix = "";
  if (!prediction.seconds.empty()) {
    Column time;
    time.name = time.label = "time";
    time.key = "seconds";
    time.prefix = "time_";
    time.quantity = Quantity::kTime;
    time.origin = energy.origin;
    time.by = energy.by;
    time.total = prediction.seconds;
    tree.columns.insert(tree.columns.begin(), std::move(time));
  }
  if (!energy.marked.empty()) {
    TextColumn& beyond = tree.texts.emplace_back();
    beyond.key = beyond.label = "beyond";
    beyond.kind = TextColumn::Kind::kYesNo;
    for (const bool marked : energy.marked) beyond.values.emplace_back(marked ? "yes" : "");
  }
  tree.columns.insert(tree.columns.begin(), std::move(energy));
  return tree;
}

BesideTree FoldBeside(const BesideTree& beside, const std::vector<NodeId>& node_of, size_t nodes) {
  BesideTree folded;
  for (const Column& column : beside.columns) {
    if (auto grouped = Regroup(column, node_of, nodes)) {
      folded.columns.push_back(*std::move(grouped));
    }
  }
  for (const TextColumn& column : beside.texts) {
    TextColumn& texts = folded.texts.emplace_back(column);
    texts.values.assign(nodes, "");
    // The first of those that are folded stands for all.
    for (size_t node = node_of.size(); node-- > 0;) {
      texts.values[node_of[node]] = column.values[node];
    }
  }
  return folded;
}

ShownTree Show(TreeColumns tree) {
  // Layers that do other work, though they look alike: some attend to a window only.
  const Folding folding = beryl::Fold(tree.tree, [&](NodeId a, NodeId b) {
    for (const Column& column : tree.columns) {
      const bool counted = column.origin == Origin::kDescribed;
      if (counted && column.total[a] != column.total[b]) return true;
    }
    return false;
  });
  ShownTree shown;
  BesideTree folded = FoldBeside({tree.columns, tree.texts}, folding.node_of, folding.tree.size());
  shown.folded = {folding.tree, std::move(folded.columns), std::move(folded.texts)};
  AddDerived(tree);
  AddDerived(shown.folded);
  shown.whole = std::move(tree);
  return shown;
}

}  // namespace beryl::tree
