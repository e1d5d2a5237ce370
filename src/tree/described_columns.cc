#include <utility>

#include "tree/derived_columns.h"
#include "tree/tree.h"
#include "types/fold_tree.h"

namespace beryl::tree {
namespace {

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
  using Node = DescribedNode;
  const auto number = [&](const char* name, const char* label, Quantity quantity,
                          const auto& value) {
    Column& column = tree.columns.emplace_back(NamedColumn(name, name, label, quantity));
    column.origin = Origin::kDescribed;
    column.by = description.model;
    for (const Node& node : description.nodes) column.total.push_back(value(node));
  };
  const auto flops = [&](const char* name, const char* label, double Work::*of) {
    number(name, label, Quantity::kFlops, [of](const Node& node) { return node.work.*of; });
  };
  const auto bytes = [&](const char* name, const char* label, double Work::*of) {
    number(name, label, Quantity::kBytes, [of](const Node& node) { return node.work.*of; });
  };
  flops("flops", "FLOP", &Work::flops);
  if (all) {
    flops("matmul_flops", "matmul", &Work::matmul_flops);
    bytes("bytes_read", "read", &Work::bytes_read);
    bytes("bytes_written", "written", &Work::bytes_written);
  }
  number("bytes", "moved", Quantity::kBytes, [](const Node& of) { return of.work.Bytes(); });
  if (sends) bytes("bytes_sent", "sent", &Work::bytes_sent);
  number("parameters", "param.", Quantity::kParameters,
         [](const Node& of) { return static_cast<double>(of.parameters); });
  if (all) number("runs", "runs", Quantity::kCount, [](const Node& of) { return of.runs; });

  using Kind = TextColumn::Kind;
  const auto text = [&](const char* key, Kind kind, const auto& value) {
    TextColumn& column = tree.texts.emplace_back(TextColumn{key, key, kind, {}});
    for (const Node& node : description.nodes) column.values.emplace_back(value(node));
  };
  text("scope", Kind::kText, [](const Node& of) { return of.scope; });
  text("phase", Kind::kText, [](const Node& of) { return RunPhaseName(of.phase); });
  if (!all) return tree;
  text("kind", Kind::kText,
       [](const Node& of) { return of.kind ? MathKindName(*of.kind) : std::string_view(); });
  if (sends) text("split", Kind::kYesNo, [](const Node& of) { return of.split ? "yes" : ""; });
  text("inputs", Kind::kShapes,
       [&](const Node& of) { return ShapesText(description, of.first_shape, of.input_count); });
  text("outputs", Kind::kShapes, [&](const Node& of) {
    return ShapesText(description, of.first_shape + of.input_count, of.output_count);
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
    Column time = NamedColumn("time", "seconds", "time", Quantity::kTime);
    time.origin = energy.origin;
    time.by = energy.by;
    time.total = prediction.seconds;
    tree.columns.insert(tree.columns.begin(), std::move(time));
  }
  if (!energy.marked.empty()) {
    TextColumn& beyond =
        tree.texts.emplace_back(TextColumn{"beyond", "beyond", TextColumn::Kind::kYesNo, {}});
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
    texts.top = node_of[column.top];
    // The first of the folded nodes represents all of them.
    for (size_t node = node_of.size(); node-- > 0;) {
      texts.values[node_of[node]] = column.values[node];
    }
  }
  return folded;
}

ShownTree Show(TreeColumns tree) {
  // Layers may look alike but do different work: some attend only to a window.
  const Folding folding = beryl::Fold(tree.tree, [&](NodeId a, NodeId b) {
    for (const Column& column : tree.columns) {
      const bool counted = column.origin == Origin::kDescribed;
      if (counted && column.total[a] != column.total[b]) return true;
    }
    return false;
  });
  BesideTree folded = FoldBeside({tree.columns, tree.texts}, folding.node_of, folding.tree.size());
  ShownTree shown = ShowWhole(std::move(tree));
  shown.folded = {folding.tree, std::move(folded.columns), std::move(folded.texts)};
  AddDerived(shown.folded);
  return shown;
}

ShownTree ShowWhole(TreeColumns tree) {
  AddDerived(tree);
  return {std::move(tree), {}};
}

}  // namespace beryl::tree
