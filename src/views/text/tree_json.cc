#include <array>
#include <charconv>
#include <utility>

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

void WriteText(JsonWriter& json, const JsonName& name, const TextColumn& column, NodeId node) {
  const std::string& value = column.values[node];
  if (column.kind == TextColumn::Kind::kShapes) {
    if (!value.empty()) WriteShapes(json.Key(name), value);
  } else if (column.kind == TextColumn::Kind::kYesNo) {
    json.Member(name, value == "yes");
  } else if (!value.empty() || node == 0 || node == column.top) {
    json.Member(name, value);
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

class TreeWriter {
 public:
  TreeWriter(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
             std::string_view also)
      : json_(json),
        tree_(tree),
        options_(options),
        columns_(ChosenColumns(tree, options.columns)) {
    for (const TextColumn& text : tree.texts) texts_.emplace_back(JsonName(text.key), &text);
    for (const TreeField& field : FieldsOf(columns_)) {
      if (field.column->of != Column::Of::kAll) continue;
      const bool counts = CountsThings(field.column->quantity);
      numbers_.push_back({JsonName(field.key), field.values, counts});
      if (numbers_.size() > 1 || also.empty() || !options.columns.empty()) continue;
      numbers_.push_back({JsonName(also), &columns_[0]->total, counts});
    }
    for (const auto& [key, column] : MarksOf(columns_)) marks_.emplace_back(JsonName(key), column);
    for (const Column::Of of : {Column::Of::kPhase, Column::Of::kChannel, Column::Of::kRank}) {
      Group group = {JsonName(kGroups[static_cast<size_t>(of)]), {}};
      for (const Column* column : columns_) {
        if (column->of == of) group.parts.emplace_back(JsonName(column->label), column);
      }
      const bool is_usual = !also.empty() && of != Column::Of::kRank;
      if (is_usual || !group.parts.empty()) groups_.push_back(std::move(group));
    }
  }

  void Write() {
    std::vector<NodeId> open_until;
    for (NodeId id = 0; id < tree_.tree.size(); ++id) {
      const NodeId end = tree_.tree[id].end;
      while (!open_until.empty() && id >= open_until.back()) {
        json_.End().End();
        open_until.pop_back();
      }
      if (!IsShown(tree_.tree, id, options_)) {
        id = end - 1;
        continue;
      }
      json_.BeginObject();
      WriteMembers(id);
      json_.Key(children_).BeginArray();
      open_until.push_back(end);
    }
    for (size_t i = 0; i < open_until.size(); ++i) json_.End().End();
  }

 private:
  using NamedColumns = std::vector<std::pair<JsonName, const Column*>>;
  struct Number {
    JsonName name;
    const std::vector<double>* values;
    bool counts;
  };
  struct Group {
    JsonName name;
    NamedColumns parts;
  };

  void WriteMembers(NodeId id) {
    const TreeNode& node = tree_.tree[id];
    if (id == 0) {
      json_.Member("schema", "beryl.tree/1");
      WriteColumns(json_, columns_);
    }
    json_.Member(name_, node.name).Member(level_, LevelName(node.level)).Member(type_, node.type);
    for (const auto& [name, text] : texts_) WriteText(json_, name, *text, id);
    for (const auto& [name, values, counts] : numbers_) {
      json_.Key(name);
      if (counts) {
        WriteWhole(json_, (*values)[id]);
      } else {
        json_.Value((*values)[id]);
      }
    }
    for (const auto& [name, column] : marks_) json_.Member(name, column->IsMarked(id));
    for (const auto& [name, parts] : groups_) {
      json_.Key(name).BeginObject();
      for (const auto& [label, column] : parts) json_.Member(label, column->total[id]);
      json_.End();
    }
    json_.Member(layers_, node.folded).Member(range_, node.folded_range);
  }

  JsonWriter& json_;
  const TreeColumns& tree_;
  const ViewOptions& options_;
  const std::vector<const Column*> columns_;
  const JsonName name_{"name"};
  const JsonName level_{"level"};
  const JsonName type_{"type"};
  const JsonName layers_{"layers"};
  const JsonName range_{"range"};
  const JsonName children_{"children"};
  std::vector<std::pair<JsonName, const TextColumn*>> texts_;
  std::vector<Number> numbers_;
  NamedColumns marks_;
  std::vector<Group> groups_;
};

}  // namespace

void WriteTree(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
               std::string_view also) {
  if (tree.tree.nodes.empty()) {
    json.Value(std::optional<double>());
    return;
  }
  TreeWriter(json, tree, options, also).Write();
}

}  // namespace beryl::views
