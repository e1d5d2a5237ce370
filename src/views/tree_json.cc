#include <algorithm>
#include <array>

#include "base/text.h"
#include "views/figures.h"
#include "views/tree_view.h"

namespace beryl::views {
namespace {

// The groups of a node that columns of a part go into, by Column::Of.
constexpr std::array<std::string_view, 4> kGroups = {"", "phases", "devices", "ranks"};

// A list of numbers and what it is called at every node.
struct Field {
  std::string key;
  const std::vector<double>* values = nullptr;
  bool whole = false;  // counts are written as such, without a fraction
};

bool CountsThings(Quantity quantity) {
  return quantity == Quantity::kFlops || quantity == Quantity::kBytes ||
         quantity == Quantity::kParameters || quantity == Quantity::kCount;
}

std::vector<Field> FieldsOf(const TreeColumns& tree, const std::vector<const Column*>& columns,
                            std::string_view also) {
  std::vector<Field> fields;
  for (const Column* column : columns) {
    if (column->of != Column::Of::kAll) continue;
    const bool whole = CountsThings(column->quantity);
    const std::string_view unit = LookOf(column->quantity).key;
    fields.push_back({column->key, &column->total, whole});
    if (!also.empty() && column == &tree.columns.front()) {
      fields.push_back({std::string(also), &column->total, whole});
    }
    // What can be worked out from the children is not written again.
    const auto add = [&](std::string_view part, const std::vector<double>& values) {
      if (values.empty()) return;
      fields.push_back({column->prefix + std::string(part).append(unit), &values, whole});
    };
    if (column->quantity == Quantity::kEnergy) add("self", column->self);
    add("low", column->low);
    add("high", column->high);
    add("deviation", column->deviation);
  }
  return fields;
}

void WriteShapes(JsonWriter& json, std::string_view shapes) {
  json.BeginArray();
  for (const std::string_view shape : Split(shapes, ';')) {
    if (shapes.empty()) break;
    json.BeginArray();
    for (const std::string_view size : Split(shape, 'x')) {
      if (const auto number = ParseNumber(size)) json.Value(static_cast<int64_t>(*number));
    }
    json.End();
  }
  json.End();
}

void WriteText(JsonWriter& json, const TextColumn& column, NodeId node) {
  const std::string& value = column.values[node];
  switch (column.kind) {
    case TextColumn::Kind::kShapes:
      WriteShapes(json.Key(column.key), value);
      break;
    case TextColumn::Kind::kYesNo:
      json.Member(column.key, value == "yes");
      break;
    case TextColumn::Kind::kText:
      if (!value.empty() || node == 0) json.Member(column.key, value);
      break;
  }
}

void WriteColumns(JsonWriter& json, const std::vector<const Column*>& columns) {
  json.Key("columns").BeginArray();
  for (const Column* column : columns) {
    json.BeginObject();
    json.Member("name", column->name);
    json.Member("key", column->key);
    if (column->of != Column::Of::kAll) {
      json.Member("of", kGroups[static_cast<size_t>(column->of)]);
    }
    json.Member("label", column->label);
    json.Member("quantity", LookOf(column->quantity).name);
    json.Member("unit", LookOf(column->quantity).unit);
    json.Member("origin", OriginName(column->origin));
    json.Member("by", column->by);
    json.End();
  }
  json.End();
}

}  // namespace

void WriteTree(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
               std::string_view also) {
  if (tree.tree.nodes.empty()) {
    json.Value(std::optional<double>());
    return;
  }
  const std::vector<const Column*> columns = ChosenColumns(tree, options.columns);
  const std::vector<Field> fields = FieldsOf(tree, columns, options.columns.empty() ? also : "");
  std::vector<NodeId> open_until;
  for (NodeId id = 0; id < tree.tree.size(); ++id) {
    const TreeNode& node = tree.tree[id];
    while (!open_until.empty() && id >= open_until.back()) {
      json.End().End();
      open_until.pop_back();
    }
    if (!IsShown(node, options)) {
      id = node.end - 1;
      continue;
    }
    json.BeginObject();
    if (id == 0) {
      json.Member("schema", "beryl.tree/1");
      WriteColumns(json, columns);
    }
    json.Member("name", node.name);
    json.Member("level", LevelName(node.level));
    json.Member("type", node.type);
    for (const TextColumn& text : tree.texts) WriteText(json, text, id);
    for (const Field& field : fields) {
      if (field.whole) {
        WriteWhole(json, field.key, (*field.values)[id]);
      } else {
        json.Member(field.key, (*field.values)[id]);
      }
    }
    for (const Column::Of of : {Column::Of::kPhase, Column::Of::kChannel, Column::Of::kRank}) {
      const auto is_of = [&](const Column* column) { return column->of == of; };
      const bool any = std::any_of(columns.begin(), columns.end(), is_of);
      if (!any && (also.empty() || of == Column::Of::kRank)) continue;
      json.Key(kGroups[static_cast<size_t>(of)]).BeginObject();
      for (const Column* column : columns) {
        if (is_of(column)) json.Member(column->label, column->total[id]);
      }
      json.End();
    }
    json.Member("layers", node.folded);
    json.Member("range", node.folded_range);
    json.Key("children").BeginArray();
    open_until.push_back(node.end);
  }
  for (size_t i = 0; i < open_until.size(); ++i) json.End().End();
}

}  // namespace beryl::views
