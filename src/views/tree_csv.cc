#include "views/figures.h"
#include "views/tree_view.h"

namespace beryl::views {

std::vector<TreeField> FieldsOf(const std::vector<const Column*>& columns) {
  std::vector<TreeField> fields;
  for (const Column* column : columns) {
    const std::string unit(LookOf(column->quantity).key);
    if (column->of != Column::Of::kAll) {
      fields.push_back({column->label + unit, column, &column->total});
      continue;
    }
    fields.push_back({column->key, column, &column->total});
    const auto add = [&](const char* part, const std::vector<double>& values) {
      if (!values.empty()) fields.push_back({column->prefix + part + unit, column, &values});
    };
    // What can be worked out from the children is not written again.
    if (column->quantity == Quantity::kEnergy) add("self", column->self);
    add("low", column->low);
    add("high", column->high);
    add("deviation", column->deviation);
  }
  return fields;
}

std::string TreeCsv(const TreeColumns& tree, const ViewOptions& options, const CsvFields& before,
                    const CsvFields& behind, CsvTable csv) {
  const std::vector<TreeField> columns = FieldsOf(ChosenColumns(tree, options.columns));
  for (const auto& [name, value] : before) csv.Field(name);
  for (const char* name : {"depth", "path", "name", "type", "level", "layers"}) csv.Field(name);
  for (const TextColumn& column : tree.texts) csv.Field(column.key);
  for (const TreeField& column : columns) csv.Field(column.key);
  for (const auto& [name, value] : behind) csv.Field(name);
  csv.EndRow();
  for (NodeId id = 0; id < tree.tree.size(); ++id) {
    const TreeNode& node = tree.tree[id];
    if (!IsShown(node, options)) {
      id = node.end - 1;
      continue;
    }
    for (const auto& [name, value] : before) csv.Field(value);
    csv.Field(node.depth).Field(NodePath(tree.tree, id)).Field(node.name);
    csv.Field(node.type).Field(LevelName(node.level)).Field(node.folded);
    for (const TextColumn& column : tree.texts) csv.Field(column.values[id]);
    for (const TreeField& column : columns) csv.Field(WholeOrFigure((*column.values)[id]));
    for (const auto& [name, value] : behind) csv.Field(value);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace beryl::views
