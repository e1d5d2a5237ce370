#include <fmt/format.h>

#include "views/figures.h"
#include "views/tree_view.h"
#include "views/writers.h"

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
                    const CsvFields& behind) {
  const std::vector<TreeField> columns = FieldsOf(ChosenColumns(tree, options.columns));
  std::string text;
  std::string first;
  std::string last;
  for (const auto& [name, value] : before) {
    text += CsvText(name) + ",";
    first += value + ",";
  }
  text += "depth,path,name,type,level,layers";
  for (const TextColumn& column : tree.texts) text += "," + column.key;
  for (const TreeField& column : columns) text += "," + CsvText(column.key);
  for (const auto& [name, value] : behind) {
    text += "," + CsvText(name);
    last += "," + value;
  }
  text += '\n';
  for (NodeId id = 0; id < tree.tree.size(); ++id) {
    const TreeNode& node = tree.tree[id];
    if (!IsShown(node, options)) {
      id = node.end - 1;
      continue;
    }
    text += first;
    text += fmt::format("{},{},{},{},{},{}", node.depth, CsvText(NodePath(tree.tree, id)),
                        CsvText(node.name), CsvText(node.type), LevelName(node.level), node.folded);
    for (const TextColumn& column : tree.texts) text += "," + CsvText(column.values[id]);
    for (const TreeField& column : columns) text += "," + WholeOrFigure((*column.values)[id]);
    text += last + "\n";
  }
  return text;
}

}  // namespace beryl::views
