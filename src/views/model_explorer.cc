// Model Explorer: a graph, and the energy of its nodes in a file of its own. As in
// google-ai-edge/model-explorer, graph_builder.py and node_data_builder.py.
//
// It colours and adds up operations, not the groups they are in, so what a module took itself is an
// operation "(self)" in it.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/text.h"
#include "views/export.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr std::string_view kGraph = "beryl";

// Slashes separate groups.
std::string GroupName(const TreeNode& node) {
  std::string name = FrameName(node.name);
  std::replace(name.begin(), name.end(), '/', '|');
  return name;
}

class GraphWriter {
 public:
  explicit GraphWriter(const ExportedRun& run)
      : run_(run), tree_(run.report.tree.tree), energy_(EnergyOf(run.report)) {
    for (const Flow& flow : run_.dataflow) {
      if (!tree_.IsLeaf(flow.from)) joined_.insert(flow.from);
      if (!tree_.IsLeaf(flow.to)) joined_.insert(flow.to);
      into_.emplace(flow.to, flow.from);
    }
    for (const TreeNode& node : tree_.nodes) {
      const auto id = static_cast<NodeId>(&node - tree_.nodes.data());
      const std::string& above = groups_.empty() ? std::string() : groups_[node.parent];
      groups_.push_back(id == 0 ? "" : above + (above.empty() ? "" : "/") + GroupName(node));
    }
  }

  std::string Graph() {
    JsonWriter json;
    json.BeginArray().BeginObject().Member("id", kGraph);
    json.Key("nodes").BeginArray();
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (IsShown(id)) WriteNode(json, id);
    }
    json.End();
    json.Key("groupNodeAttributes").BeginObject();
    json.Key("").BeginObject().Member("provenance", ProvenanceText(run_.report)).End();
    for (NodeId id = 1; id < tree_.size(); ++id) {
      if (tree_.IsLeaf(id)) continue;
      json.Key(groups_[id]).BeginObject();
      if (!tree_[id].type.empty()) json.Member("type", Printable(tree_[id].type));
      for (const auto& [name, value] : Amounts(id, &Column::total)) json.Member(name, value);
      json.End();
    }
    json.End().End();
    return EndResult(json);
  }

  std::string NodeData() {
    JsonWriter json;
    json.BeginObject().Key(kGraph).BeginObject();
    json.Member("name", fmt::format("{} energy (J)", OriginName(energy_.origin)));
    json.Key("results").BeginObject();
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (!IsShown(id) || std::isnan(energy_.self[id])) continue;
      json.Key(std::to_string(id)).BeginObject().Member("value", energy_.self[id]).End();
    }
    json.End();
    json.Key("gradient").BeginArray();
    json.BeginObject().Member("stop", 0).Member("bgColor", "#ffffff").End();
    json.BeginObject().Member("stop", 1).Member("bgColor", "#b00020").End();
    json.End().End();
    return EndResult(json);
  }

 private:
  bool IsShown(NodeId id) const {
    return tree_.IsLeaf(id) || energy_.self[id] > 0 || joined_.contains(id);
  }

  // Columns of the whole energy and of everything else that is known.
  std::vector<std::pair<std::string, std::string>> Amounts(
      NodeId id, std::vector<double> Column::*values) const {
    std::vector<std::pair<std::string, std::string>> amounts;
    for (const Column& column : run_.report.tree.columns) {
      if (column.of != Column::Of::kAll) continue;
      const double value = At(column.*values, id);
      if (std::isnan(value)) continue;
      const std::string_view unit = LookOf(column.quantity).unit;
      amounts.emplace_back(Printable(column.label),
                           fmt::format("{:.6g}{}{}", value, unit.empty() ? "" : " ", unit));
    }
    return amounts;
  }

  void WriteNode(JsonWriter& json, NodeId id) const {
    const TreeNode& node = tree_[id];
    const bool leaf = tree_.IsLeaf(id);
    std::string label = leaf ? FrameName(node.name) : "(self)";
    if (!node.type.empty() && node.type != node.name) label += " " + Printable(node.type);
    json.BeginObject().Member("id", std::to_string(id)).Member("label", label);
    json.Member("namespace", leaf ? groups_[node.parent] : groups_[id]);
    json.Key("attrs").BeginArray();
    const auto attribute = [&](std::string_view key, std::string_view value) {
      json.BeginObject().Member("key", key).Member("value", value).End();
    };
    attribute("level", LevelName(node.level));
    for (const auto& [name, value] : Amounts(id, leaf ? &Column::total : &Column::self)) {
      attribute(name, value);
    }
    for (const TextColumn& text : run_.report.tree.texts) {
      if (leaf && id < text.values.size() && !text.values[id].empty()) {
        attribute(Printable(text.label), Printable(text.values[id]));
      }
    }
    json.End();
    json.Key("incomingEdges").BeginArray();
    const auto [first, last] = into_.equal_range(id);
    for (auto edge = first; edge != last; ++edge) {
      json.BeginObject().Member("sourceNodeId", std::to_string(edge->second)).End();
    }
    json.End().End();
  }

  const ExportedRun& run_;
  const ModelTree& tree_;
  const Column& energy_;
  std::set<NodeId> joined_;  // nodes with parts that dataflow leads to or from
  std::multimap<NodeId, NodeId> into_;
  std::vector<std::string> groups_;  // by node: the path that its parts have as their group
};

}  // namespace

std::string WriteModelExplorer(const ExportedRun& run) { return GraphWriter(run).Graph(); }
std::string WriteModelExplorerData(const ExportedRun& run) { return GraphWriter(run).NodeData(); }

}  // namespace beryl::views
