#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "datasets/datasets.h"
#include "datasets/tree_lines.h"

namespace beryl::datasets {
namespace {

// Keeps the ids that nodes have and generates ids for the others.
class IdMaker {
 public:
  explicit IdMaker(const Dataset& data) {
    for (const ModelRun& run : data.runs) used_.insert(run.ids.begin(), run.ids.end());
  }

  std::string IdOf(const ModelRun& run, NodeId node) {
    if (node < run.ids.size() && !run.ids[node].empty()) return run.ids[node];
    std::string id = fmt::format("{}-{}-{}-{}", run.model, run.batch_size.value_or(kUnknown),
                                 run.seq_len.value_or(kUnknown), node);
    while (!used_.insert(id).second) id += '+';
    return id;
  }

 private:
  std::unordered_set<std::string> used_;
};

// Writes one run. Nodes are in pre-order, so each is written in turn and closed where it ends;
// there is no recursion, however deep the tree.
class TreeWriter {
 public:
  TreeWriter(const ModelRun& run, const Column* predicted, IdMaker& ids)
      : run_(run), predicted_(predicted), ids_(ids) {}

  std::string Write() {
    const std::vector<TreeNode>& nodes = run_.tree.nodes;
    MakeScopes();
    json_.BeginObject().Member("model_name", run_.model);
    WriteKnown("batch_size", run_.batch_size.value_or(kUnknown));
    WriteKnown("seq_len", run_.seq_len.value_or(kUnknown));
    json_.Key("frontend_tree");
    std::vector<NodeId> open;
    for (NodeId node = 0; node < nodes.size(); ++node) {
      for (; !open.empty() && nodes[open.back()].end <= node; open.pop_back()) json_.End().End();
      WriteNode(node);
      open.push_back(node);
    }
    for (size_t i = 0; i < open.size(); ++i) json_.End().End();
    json_.End();
    return json_.Take() + "\n";
  }

 private:
  void MakeScopes() {
    const std::vector<TreeNode>& nodes = run_.tree.nodes;
    scopes_.assign(nodes.size(), std::string(kRootScope));
    for (NodeId node = 1; node < nodes.size(); ++node) {
      scopes_[node] = fmt::format("{}.{}", scopes_[nodes[node].parent], nodes[node].name);
    }
  }

  void WriteKnown(std::string_view name, double value) {
    if (std::isfinite(value)) json_.Member(name, value);
  }

  // Writes everything except the end of its children and of the node.
  void WriteNode(NodeId id) {
    const TreeNode& node = run_.tree[id];
    const std::string_view extra =
        id < run_.extra.size() ? std::string_view(run_.extra[id]) : std::string_view();
    json_.BeginObject().Member("scope", scopes_[id]);
    if (!extra.starts_with(kIdMember)) json_.Member("id", ids_.IdOf(run_, id));
    json_.Member("parent_name", id == 0 ? "" : scopes_[node.parent]);
    json_.Member("level", node.depth).Member("instance_type", node.type);
    const Level shown = run_.tree.IsLeaf(id) ? Level::kMl : node.level;
    json_.Member("type", LevelName(shown));
    if (shown != node.level) json_.Member(kLevelMember, LevelName(node.level));
    for (size_t i = 0; i < kFeatureCount; ++i) {
      const auto feature = static_cast<Feature>(i);
      if (feature == Feature::kInputSize) continue;  // the product of two others
      WriteKnown(LookOf(feature).column, run_.features[id][i]);
    }
    WriteKnown("ground_truth_energy", run_.measured[id]);
    if (predicted_ != nullptr) WriteKnown("predicted_energy", At(predicted_->total, id));
    json_.MoreMembers(extra).Key("child_nodes").BeginArray();
    for (const NodeId child : Children(run_.tree, id)) json_.Value(scopes_[child]);
    json_.End().Key("child_nodes_obj").BeginArray();
  }

  const ModelRun& run_;
  const Column* predicted_;
  IdMaker& ids_;
  JsonWriter json_;
  std::vector<std::string> scopes_;  // by node
};

// Rows of an input size without a model row do not form a tree: readers of these files expect a
// root with measured energy.
bool HasNoRoot(const ModelRun& run) {
  const FeatureRow& root = run.features.front();
  return run.ids.empty() && !run.complete && std::isnan(run.measured.front()) &&
         std::isnan(At(root, Feature::kSeconds)) && std::isnan(At(root, Feature::kFlops));
}

}  // namespace

std::string WriteTrees(const Dataset& data, const std::vector<Column>& predicted) {
  std::string out;
  IdMaker ids(data);
  for (size_t i = 0; i < data.runs.size(); ++i) {
    if (HasNoRoot(data.runs[i])) continue;
    out += TreeWriter(data.runs[i], i < predicted.size() ? &predicted[i] : nullptr, ids).Write();
  }
  return out;
}

}  // namespace beryl::datasets
