#include "views/text/figures.h"
#include "views/text/tree_view.h"

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
    // Omits values that follow from the children.
    if (column->quantity == Quantity::kEnergy) add("self", column->self);
    add("low", column->low);
    add("high", column->high);
    add("deviation", column->deviation);
  }
  return fields;
}

std::vector<std::pair<std::string, const Column*>> MarksOf(
    const std::vector<const Column*>& columns) {
  std::vector<std::pair<std::string, const Column*>> marks;
  for (const Column* column : columns) {
    if (!column->MarkKey().empty()) marks.emplace_back(column->MarkKey(), column);
  }
  return marks;
}

void AddTreeNames(const TreeColumns& tree, const ViewOptions& options, CsvTable& csv) {
  const std::vector<const Column*> columns = ChosenColumns(tree, options.columns);
  for (const char* name : {"depth", "path", "name", "type", "level", "layers"}) csv.Field(name);
  for (const TextColumn& column : tree.texts) csv.Field(column.key);
  for (const TreeField& field : FieldsOf(columns)) csv.Field(field.key);
  for (const auto& [key, column] : MarksOf(columns)) csv.Field(key);
}

void AddTreeRows(const TreeColumns& tree, const ViewOptions& options, const NamedFields& before,
                 const NamedFields& behind, CsvTable& csv) {
  const std::vector<const Column*> columns = ChosenColumns(tree, options.columns);
  const std::vector<TreeField> fields = FieldsOf(columns);
  const auto marks = MarksOf(columns);
  for (NodeId id = 0; id < tree.tree.size(); ++id) {
    const TreeNode& node = tree.tree[id];
    if (!IsShown(tree.tree, id, options)) {
      id = node.end - 1;
      continue;
    }
    for (const auto& [name, value] : before) csv.Field(value);
    csv.Field(node.depth).Field(NodePath(tree.tree, id)).Field(node.name);
    csv.Field(node.type).Field(LevelName(node.level)).Field(node.folded);
    for (const TextColumn& column : tree.texts) csv.Field(column.values[id]);
    for (const TreeField& field : fields) csv.Field(WholeOrFigure((*field.values)[id]));
    for (const auto& [key, column] : marks) csv.Field(column->IsMarked(id) ? "yes" : "");
    for (const auto& [name, value] : behind) csv.Field(value);
    csv.EndRow();
  }
}

std::string TreeCsv(const TreeColumns& tree, const ViewOptions& options, const NamedFields& before,
                    const NamedFields& behind, CsvTable csv) {
  for (const auto& [name, value] : before) csv.Field(name);
  AddTreeNames(tree, options, csv);
  for (const auto& [name, value] : behind) csv.Field(name);
  csv.EndRow();
  AddTreeRows(tree, options, before, behind, csv);
  return csv.Take();
}

}  // namespace beryl::views
