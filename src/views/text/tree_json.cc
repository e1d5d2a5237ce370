#include <algorithm>
#include <array>
#include <charconv>

#include "views/text/figures.h"
#include "views/text/tree_view.h"

namespace beryl::views {
namespace {

// The groups of a node that columns of a part go into, by Column::Of.
constexpr std::array<std::string_view, 4> kGroups = {"", "phases", "devices", "ranks"};

bool CountsThings(Quantity quantity) {
  return quantity == Quantity::kFlops || quantity == Quantity::kBytes ||
         quantity == Quantity::kParameters || quantity == Quantity::kCount;
}

// Writes "8x128x768;768" as [[8,128,768],[768]]; a scalar is an empty list.
void WriteShapes(JsonWriter& json, std::string_view shapes) {
  const char* at = shapes.data();
  const char* const end = at + shapes.size();
  json.BeginArray();
  for (bool more = !shapes.empty(); more;) {
    json.BeginArray();
    char next = 'x';
    while (next == 'x') {
      int64_t size = 0;
      const auto [rest, problem] = std::from_chars(at, end, size);
      if (problem == std::errc()) json.Value(size);
      next = rest < end ? *rest : '\0';
      at = rest < end ? rest + 1 : rest;
    }
    json.End();
    more = next == ';';
  }
  json.End();
}

void WriteText(JsonWriter& json, const TextColumn& column, NodeId node) {
  const std::string& value = column.values[node];
  if (column.kind == TextColumn::Kind::kShapes) {
    if (!value.empty()) WriteShapes(json.Key(column.key), value);
  } else if (column.kind == TextColumn::Kind::kYesNo) {
    json.Member(column.key, value == "yes");
  } else if (!value.empty() || node == 0 || node == column.top) {
    json.Member(column.key, value);
  }
}

void WriteColumns(JsonWriter& json, const std::vector<const Column*>& columns) {
  json.Objects("columns", columns, [&](const Column* column) {
    json.Member("name", column->name).Member("key", column->key);
    if (column->of != Column::Of::kAll) {
      json.Member("of", kGroups[static_cast<size_t>(column->of)]);
    }
    json.Member("label", column->label).Member("quantity", LookOf(column->quantity).name);
    json.Member("unit", LookOf(column->quantity).unit).Member("origin", OriginName(column->origin));
    json.Member("by", column->by);
    if (const std::string key = column->MarkKey(); !key.empty()) {
      json.Member("mark_key", key).Member("marked_because", column->marked_because);
    }
  });
}

}  // namespace

void WriteTree(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
               std::string_view also) {
  if (tree.tree.nodes.empty()) {
    json.Value(std::optional<double>());
    return;
  }
  const std::vector<const Column*> columns = ChosenColumns(tree, options.columns);
  std::vector<TreeField> fields = FieldsOf(columns);
  if (!also.empty() && options.columns.empty()) {
    fields.insert(fields.begin() + 1, {std::string(also), columns[0], &columns[0]->total});
  }
  const auto marks = MarksOf(columns);
  std::vector<NodeId> open_until;
  for (NodeId id = 0; id < tree.tree.size(); ++id) {
    const TreeNode& node = tree.tree[id];
    while (!open_until.empty() && id >= open_until.back()) {
      json.End().End();
      open_until.pop_back();
    }
    if (!IsShown(tree.tree, id, options)) {
      id = node.end - 1;
      continue;
    }
    json.BeginObject();
    if (id == 0) {
      json.Member("schema", "beryl.tree/1");
      WriteColumns(json, columns);
    }
    json.Member("name", node.name).Member("level", LevelName(node.level)).Member("type", node.type);
    for (const TextColumn& text : tree.texts) WriteText(json, text, id);
    for (const TreeField& field : fields) {
      if (field.column->of != Column::Of::kAll) continue;
      if (CountsThings(field.column->quantity)) {
        WriteWhole(json, field.key, (*field.values)[id]);
      } else {
        json.Member(field.key, (*field.values)[id]);
      }
    }
    for (const auto& [key, column] : marks) json.Member(key, column->IsMarked(id));
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
    json.Member("layers", node.folded).Member("range", node.folded_range);
    json.Key("children").BeginArray();
    open_until.push_back(node.end);
  }
  for (size_t i = 0; i < open_until.size(); ++i) json.End().End();
}

}  // namespace beryl::views
