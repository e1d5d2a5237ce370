#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/member_name.h"
#include "base/text.h"
#include "datasets/scope_tree.h"
#include "datasets/tree_lines.h"

namespace beryl::datasets {
namespace {

constexpr size_t kNoLimit = ~size_t{0};

std::optional<Level> ParseDataLevel(std::string_view name) {
  if (name == "ml" || name == "ml-np") return Level::kMl;
  for (const Level level : kDataLevels) {
    if (name == LevelName(level)) return level;
  }
  return std::nullopt;
}

// Reads the run of one line.
class LineReader {
 public:
  LineReader(const TreeLinePlace& place, const DatasetOptions& options, NoteLog& log)
      : file_(place.file),
        line_(place.line),
        options_(options),
        nodes_left_(place.nodes_left),
        log_(log) {}

  Result<ModelRun> Read(std::string text) {
    // The reader does not check members that it skips. They are kept as text, so they must be valid
    // too.
    if (const auto error = json::FindSyntaxError(text)) {
      return Broken(fmt::format("not valid JSON: {}", json::Describe(*error, text)));
    }
    const auto ok = json::WalkObject(
        text, file_, [&](json::Key key, json::Value value) { ReadLineMember(key, value); });
    if (!why_broken_.empty()) return Broken(why_broken_);
    if (!ok) return Broken("not a JSON object");
    if (run_.model.empty()) return Broken("no model_name");
    if (run_.tree.nodes.empty()) return Broken("no frontend_tree");
    Finish();
    return std::move(run_);
  }

 private:
  Error Broken(std::string_view why) const {
    return InvalidError(fmt::format("{}:{}: {}; see docs/data-sets.md", file_, line_, why));
  }

  void Count(NoteKind kind, std::string_view what = {}, std::string_view value = {}) {
    log_.Count(kind, file_, line_, what, value);
  }

  void ReadLineMember(json::Key key, json::Value value) {
    if (key == "model_name") {
      run_.model = CleanName(value.String().value_or(std::string_view()));
    } else if (key == "batch_size") {
      run_.batch_size = KnownSize(Number(key, value));
    } else if (key == "seq_len") {
      run_.seq_len = KnownSize(Number(key, value));
    } else if (key == "frontend_tree" && run_.tree.nodes.empty()) {
      if (!ReadNode(value, 0, 0) && why_broken_.empty()) {
        why_broken_ = "a node in frontend_tree is not an object";
      }
    } else {
      Count(NoteKind::kMemberNotKnown, json::RawMemberName(key));
    }
  }

  // A number of 0 or more; anything else is unknown.
  double Number(json::Key key, json::Value value) {
    const std::string_view token = value.Token();
    if (token == "null") return kUnknown;
    const auto number = ParseNumber(token);
    if (number && *number >= 0) return *number + 0.0;
    Count(NoteKind::kNumberNotUsed, json::RawMemberName(key), token);
    return kUnknown;
  }

  // Children may come before the name of their parent, so the node is added first.
  bool ReadNode(json::Value value, NodeId parent, uint16_t depth) {
    if (depth >= kDeepestTree) why_broken_ = "nodes are nested more than 128 deep";
    if (run_.tree.nodes.size() >= nodes_left_) why_broken_ = "more than 2,000,000 nodes";
    if (!why_broken_.empty() || !value.IsObject()) return false;
    const auto id = static_cast<NodeId>(run_.tree.nodes.size());
    TreeNode& node = run_.tree.nodes.emplace_back();
    node.parent = parent;
    node.depth = depth;
    node.level = depth == 0 ? Level::kModel : Level::kModule;
    run_.features.push_back(UnknownFeatures());
    run_.measured.push_back(kUnknown);
    run_.ids.emplace_back();
    run_.extra.emplace_back();
    run_.lines.push_back(line_);
    scopes_.emplace_back();
    bool sound = true;
    sound = value.ForEachMember([&](json::Key key, json::Value member) {
      if (key == "child_nodes_obj") {
        sound = ReadChildren(member, id, depth) && sound;
      } else {
        ReadMember(key, member, id);
      }
    }) && sound;
    run_.tree.nodes[id].end = static_cast<NodeId>(run_.tree.nodes.size());
    return sound;
  }

  bool ReadChildren(json::Value value, NodeId parent, uint16_t depth) {
    if (value.Token() == "null") return true;
    bool sound = true;
    return value.ForEachElement([&](json::Value child) {
      sound = sound && ReadNode(child, parent, static_cast<uint16_t>(depth + 1));
    }) && sound;
  }

  void ReadMember(json::Key key, json::Value value, NodeId node) {
    if (key == "id") {
      ReadId(value, node);
    } else if (key == "scope") {
      scopes_[node] = CleanName(value.String().value_or(std::string_view()));
    } else if (key == "instance_type") {
      run_.tree.nodes[node].type = CleanName(value.String().value_or(std::string_view()));
    } else if (key == "type") {
      ReadLevel(value, node);
    } else if (key == kLevelMember) {
      own_level_.emplace_back(node, ParseDataLevel(value.String().value_or(std::string_view())));
    } else if (key == "ground_truth_energy") {
      ReadEnergy(value, node);
    } else if (key == "level" || key == "parent_name" || key == "child_nodes" ||
               key == "predicted_energy") {
      return;  // follows from the tree, or is generated when writing
    } else if (const auto feature = FindFeature(key.Text());
               feature && *feature != Feature::kInputSize) {
      run_.features[node][static_cast<size_t>(*feature)] = Number(key, value);
    } else {
      run_.extra[node] +=
          fmt::format(",\"{}\":{}", json::RawMemberName(key), Trim(value.Raw(kNoLimit)));
    }
  }

  void ReadId(json::Value value, NodeId node) {
    if (value.IsString()) {
      run_.ids[node] = CleanName(*value.String());
    } else if (value.Token() != "null" && run_.ids[node].empty()) {
      run_.ids[node] = Trim(value.Raw(kNoLimit));
      run_.extra[node].insert(0, fmt::format("{}{}", kIdMember, run_.ids[node]));
    }
  }

  void ReadLevel(json::Value value, NodeId node) {
    const std::string_view name = value.String().value_or(std::string_view());
    if (const auto level = ParseDataLevel(name)) {
      run_.tree.nodes[node].level = *level;
    } else {
      Count(NoteKind::kTypeNotKnown, "type", name);
    }
  }

  void ReadEnergy(json::Value value, NodeId node) {
    const std::string_view token = value.Token();
    if (token == "null") return;
    const auto number = ParseNumber(token);
    if (number && *number > 0) {
      run_.measured[node] = *number;
    } else {
      Count(NoteKind::kEnergyNotUsed, "ground_truth_energy", token);
    }
  }

  void Finish() {
    const auto of_root = [&](Feature feature) { return KnownSize(At(run_.features[0], feature)); };
    if (!run_.batch_size) run_.batch_size = of_root(Feature::kBatchSize);
    if (!run_.seq_len) run_.seq_len = of_root(Feature::kSeqLen);
    for (const auto& [node, level] : own_level_) {
      if (level) run_.tree.nodes[node].level = *level;
    }
    for (NodeId node = 0; node < run_.tree.nodes.size(); ++node) {
      NameNode(node);
      FinishFeatures(node);
      if (options_.needs_energy && std::isnan(run_.measured[node])) {
        Count(NoteKind::kNodeWithoutEnergy, scopes_[node]);
      }
    }
    if (IsUnknown(run_.features[0]) && std::isnan(run_.measured[0])) run_.complete = false;
  }

  void NameNode(NodeId id) {
    TreeNode& node = run_.tree.nodes[id];
    if (id == 0) {
      node.name = run_.model;
      return;
    }
    const std::string_view scope = scopes_[id];
    const std::string_view above = scopes_[node.parent];
    if (scope.size() > above.size() + 1 && scope.starts_with(above) && scope[above.size()] == '.') {
      node.name = scope.substr(above.size() + 1);
    } else {
      Count(NoteKind::kScopeNotBelowParent, "scope", scope);
      node.name = node.type.empty() ? "node" : NameOfType(node.type);
    }
    if (const std::string_view skipped = SkippedParent(node.name); !skipped.empty()) {
      run_.complete = false;
      Count(NoteKind::kParentWithoutNode, "no node for", fmt::format("{}.{}", above, skipped));
    }
  }

  static bool IsUnknown(const FeatureRow& row) {
    return std::all_of(row.begin(), row.end(), [](double value) { return std::isnan(value); });
  }

  void FinishFeatures(NodeId node) {
    FeatureRow& row = run_.features[node];
    auto known = [&](Feature feature) { return !std::isnan(At(row, feature)); };
    auto fill = [&](Feature feature, double value) {
      if (!known(feature)) row[static_cast<size_t>(feature)] = value;
    };
    if (!IsUnknown(row)) {
      fill(Feature::kBatchSize, run_.batch_size.value_or(kUnknown));
      fill(Feature::kSeqLen, run_.seq_len.value_or(kUnknown));
      const double input_size = At(row, Feature::kBatchSize) * At(row, Feature::kSeqLen);
      if (std::isfinite(input_size)) fill(Feature::kInputSize, input_size);
    }
    auto need = [&](Feature feature) {
      if (known(feature)) return true;
      Count(NoteKind::kNodeWithoutFeature, scopes_[node], LookOf(feature).column);
      return false;
    };
    for (const Feature feature : kAlwaysNeeded) {
      if (!need(feature)) return;
    }
    if (known(Feature::kCpuEnergy)) return;
    for (const Feature feature : kNeededOfGpu) {
      if (!need(feature)) return;
    }
  }

  const std::string& file_;
  uint64_t line_;
  const DatasetOptions& options_;
  size_t nodes_left_;
  NoteLog& log_;
  ModelRun run_;
  std::vector<std::string> scopes_;  // by node
  std::vector<std::pair<NodeId, std::optional<Level>>> own_level_;
  std::string why_broken_;
};

}  // namespace

Result<ModelRun> ReadTreeLine(std::string text, const TreeLinePlace& place,
                              const DatasetOptions& options, NoteLog& log) {
  return LineReader(place, options, log).Read(std::move(text));
}

}  // namespace beryl::datasets
