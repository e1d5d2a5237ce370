#include <cmath>
#include <iterator>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "learn/learn.h"
#include "learn/tree_lines.h"

namespace beryl::learn {
namespace {

std::string Quoted(std::string_view text) { return JsonWriter().Value(text).Take(); }

// Ids that nodes came with, and those made up for the others.
class IdMaker {
 public:
  explicit IdMaker(const Dataset& data) {
    for (const ModelRun& run : data.runs) used_.insert(run.ids.begin(), run.ids.end());
  }

  std::string IdOf(const ModelRun& run, NodeId node) {
    if (node < run.ids.size() && !run.ids[node].empty()) return run.ids[node];
    std::string id = fmt::format("{}-{}-{}-{}", run.model, run.batch_size, run.seq_len, node);
    while (!used_.insert(id).second) id += '+';
    return id;
  }

 private:
  std::unordered_set<std::string> used_;
};

// Writes one run. Nodes stand in pre-order, so they are written as they come, and closed where they
// end: no recursion, however deep the tree.
class TreeWriter {
 public:
  TreeWriter(const ModelRun& run, const Column* predicted, IdMaker& ids, std::string& out)
      : run_(run), predicted_(predicted), ids_(ids), out_(out) {}

  void Write() {
    const std::vector<TreeNode>& nodes = run_.tree.nodes;
    MakeScopes();
    out_ += "{\"model_name\":" + Quoted(run_.model);
    WriteNumber("batch_size", run_.batch_size);
    WriteNumber("seq_len", run_.seq_len);
    out_ += ",\"frontend_tree\":";
    std::vector<NodeId> open;
    for (NodeId node = 0; node < nodes.size(); ++node) {
      while (!open.empty() && nodes[open.back()].end <= node) {
        out_ += "]}";
        open.pop_back();
      }
      if (!open.empty() && open.back() + 1 != node) out_ += ',';
      WriteNode(node);
      open.push_back(node);
    }
    for (size_t i = 0; i < open.size(); ++i) out_ += "]}";
    out_ += "}\n";
  }

 private:
  void MakeScopes() {
    const std::vector<TreeNode>& nodes = run_.tree.nodes;
    scopes_.assign(nodes.size(), std::string(kRootScope));
    for (NodeId node = 1; node < nodes.size(); ++node) {
      scopes_[node] = fmt::format("{}.{}", scopes_[nodes[node].parent], nodes[node].name);
    }
  }

  void WriteNumber(std::string_view name, double value) {
    if (!std::isfinite(value)) return;
    fmt::format_to(std::back_inserter(out_), ",\"{}\":{}", name, value);
  }

  void WriteNode(NodeId id) {
    const TreeNode& node = run_.tree.nodes[id];
    const std::string_view extra =
        id < run_.extra.size() ? std::string_view(run_.extra[id]) : std::string_view();
    out_ += "{\"scope\":" + Quoted(scopes_[id]);
    if (!extra.starts_with(kIdMember)) out_ += ",\"id\":" + Quoted(ids_.IdOf(run_, id));
    out_ += ",\"parent_name\":" + Quoted(id == 0 ? std::string_view() : scopes_[node.parent]);
    fmt::format_to(std::back_inserter(out_), ",\"level\":{},\"instance_type\":{}", node.depth,
                   Quoted(node.type));
    WriteLevel(node, node.end == id + 1);
    for (size_t i = 0; i < kFeatureCount; ++i) {
      const auto feature = static_cast<Feature>(i);
      if (feature == Feature::kInputSize) continue;  // the product of two others
      WriteNumber(LookOf(feature).column, run_.features[id][i]);
    }
    WriteNumber("ground_truth_energy", run_.measured[id]);
    if (predicted_ != nullptr && id < predicted_->total.size()) {
      WriteNumber("predicted_energy", predicted_->total[id]);
    }
    out_ += extra;
    WriteChildScopes(id);
    out_ += ",\"child_nodes_obj\":[";
  }

  void WriteLevel(const TreeNode& node, bool is_leaf) {
    const std::string_view level = LevelName(node.level);
    const std::string_view shown = is_leaf ? LevelName(Level::kMl) : level;
    fmt::format_to(std::back_inserter(out_), ",\"type\":\"{}\"", shown);
    if (shown != level) {
      fmt::format_to(std::back_inserter(out_), ",\"{}\":\"{}\"", kLevelMember, level);
    }
  }

  void WriteChildScopes(NodeId id) {
    const std::vector<TreeNode>& nodes = run_.tree.nodes;
    out_ += ",\"child_nodes\":[";
    for (NodeId child = id + 1; child < nodes[id].end; child = nodes[child].end) {
      if (child != id + 1) out_ += ',';
      out_ += Quoted(scopes_[child]);
    }
    out_ += ']';
  }

  const ModelRun& run_;
  const Column* predicted_;
  IdMaker& ids_;
  std::string& out_;
  std::vector<std::string> scopes_;  // by node
};

// Rows of an input size without a model row make no tree, and those who read these files rely on a
// root that was measured.
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
    TreeWriter(data.runs[i], i < predicted.size() ? &predicted[i] : nullptr, ids, out).Write();
  }
  return out;
}

}  // namespace beryl::learn
