#include "learn/fit/measurements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace beryl::learn {
namespace {

uint8_t LevelIndex(Level level) {
  const auto at = std::find(kDataLevels.begin(), kDataLevels.end(), level);
  return at == kDataLevels.end() ? kPrimitiveLevel : static_cast<uint8_t>(at - kDataLevels.begin());
}

uint64_t HashOf(const MeasuredRow& row) {
  uint64_t hash = (uint64_t{row.model} << 32) ^ (uint64_t{row.type} << 8) ^ row.level;
  auto mix = [&hash](double value) {
    hash = (hash ^ std::bit_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  for (const double value : row.features) mix(value);
  mix(row.measured);
  mix(row.operations);
  return hash;
}

// Compares bits, because unknown values are NaN.
bool Same(const MeasuredRow& a, const MeasuredRow& b) {
  auto same = [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  };
  return a.model == b.model && a.type == b.type && a.level == b.level &&
         a.operations == b.operations && same(a.measured, b.measured) &&
         std::equal(a.features.begin(), a.features.end(), b.features.begin(), same);
}

NodeOperations OfOneRun(NodeOperations operations, double runs) {
  if (!(runs > 1)) return operations;
  for (double& work : operations.own) work /= runs;
  for (double& work : operations.host) work /= runs;
  for (auto& [primitive, times] : operations.primitives) times /= runs;
  return operations;
}

// By node of a described run: the node of its description with the same scope. Operations that are
// not modules (MatMul in "attention.self") also need the same type; several in one scope are
// matched in order. Module types are not compared, because they differ between library versions.
// kNoNode: no match.
std::vector<NodeId> JoinDescription(const ModelRun& run) {
  const Description& description = *run.description;
  const auto& described = description.tree.nodes;
  std::unordered_map<std::string, NodeId> modules;                 // by scope
  std::unordered_map<std::string, std::vector<NodeId>> functions;  // by scope and type
  for (NodeId node = 0; node < described.size(); ++node) {
    if (described[node].level == Level::kMath) continue;
    const std::string& scope = description.nodes[node].scope;
    if (node == 0 || scope != description.nodes[described[node].parent].scope) {
      modules.emplace(scope, node);
    } else {
      functions[scope + ":" + NameOfType(described[node].type)].push_back(node);
    }
  }
  std::vector<NodeId> joined;
  std::unordered_map<std::string, size_t> seen;  // occurrences of each function so far
  for (NodeId node = 0; node < run.tree.nodes.size(); ++node) {
    const TreeNode& of = run.tree.nodes[node];
    if (node == 0) {
      joined.push_back(0);
      continue;
    }
    std::string scope = ScopeOf(run.tree, node);
    const auto module = modules.find(scope);
    if (module != modules.end()) {
      joined.push_back(module->second);
      continue;
    }
    // The last part is the operation's own name; its module may have no row.
    const size_t dot = scope.rfind('.');
    scope.resize(dot == std::string::npos ? 0 : dot);
    const std::string key = scope + ":" + NameOfType(of.type);
    const auto function = functions.find(key);
    if (function == functions.end()) {
      joined.push_back(kNoNode);
      continue;
    }
    const size_t index = std::min(seen[key]++, function->second.size() - 1);
    joined.push_back(function->second[index]);
  }
  return joined;
}

class Gatherer {
 public:
  Measurements Run(const Dataset& data) {
    for (const ModelRun& run : data.runs) Add(run);
    all_.primitives = counter_.primitives();
    return std::move(all_);
  }

 private:
  void Add(const ModelRun& run) {
    MeasuredTree tree;
    tree.begin = static_cast<uint32_t>(all_.nodes.size());
    tree.model = ModelIndex(run.model);
    tree.complete = tree.trainable = run.complete;
    const auto& nodes = run.tree.nodes;
    const std::vector<uint32_t> operations = OperationsOf(run);
    for (NodeId id = 0; id < nodes.size(); ++id) {
      const TreeNode& node = nodes[id];
      MeasuredRow row;
      row.features = run.features[id];
      row.measured = run.measured[id];
      row.model = tree.model;
      row.type = TypeIndex(node.type);
      row.level = LevelIndex(node.level);
      if (!operations.empty()) row.operations = operations[id];
      tree.trainable = tree.trainable && row.measured > 0;
      all_.nodes.push_back({RowOf(row), tree.begin + node.parent, node.end == id + 1});
    }
    tree.end = static_cast<uint32_t>(all_.nodes.size());
    all_.trees.push_back(tree);
  }

  // By node of a described run. Identical layers share one entry.
  std::vector<uint32_t> OperationsOf(const ModelRun& run) {
    std::vector<uint32_t> found;
    if (run.description == nullptr) return found;
    const std::vector<NodeOperations> counted = counter_.Count(*run.description);
    std::unordered_map<NodeId, uint32_t> known;  // by node of the description
    const size_t first = all_.operations.size();
    for (const NodeId node : JoinDescription(run)) {
      if (node == kNoNode) {
        found.push_back(kUndescribed);
        continue;
      }
      const auto [at, is_new] = known.try_emplace(node, 0);
      if (is_new) {
        // A node that runs several times (shared layers) was measured once.
        at->second = Intern(OfOneRun(counted[node], run.description->nodes[node].runs), first);
      }
      found.push_back(at->second);
    }
    return found;
  }

  uint32_t Intern(const NodeOperations& operations, size_t first) {
    const auto begin = all_.operations.begin() + static_cast<std::ptrdiff_t>(first);
    const auto at = std::find(begin, all_.operations.end(), operations);
    const auto index = static_cast<uint32_t>(at - all_.operations.begin());
    if (at == all_.operations.end()) all_.operations.push_back(operations);
    return index;
  }

  uint32_t ModelIndex(const std::string& name) {
    const auto [at, is_new] = model_.try_emplace(name, all_.models.size());
    if (is_new) all_.models.push_back(name);
    return at->second;
  }

  uint32_t TypeIndex(const std::string& name) {
    const auto known = written_.find(name);
    if (known != written_.end()) return known->second;
    std::string lower = NameOfType(name);
    const auto [at, is_new] = type_.try_emplace(lower, all_.types.size());
    if (is_new) {
      all_.types.push_back(std::move(lower));
      all_.type_names.push_back(name);
    }
    written_.emplace(name, at->second);
    return at->second;
  }

  uint32_t RowOf(const MeasuredRow& row) {
    const uint64_t hash = HashOf(row);
    const auto [first, last] = rows_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      if (Same(all_.rows[at->second], row)) {
        ++all_.rows[at->second].count;
        return at->second;
      }
    }
    const auto index = static_cast<uint32_t>(all_.rows.size());
    rows_.emplace(hash, index);
    all_.rows.push_back(row);
    all_.rows.back().count = 1;
    return index;
  }

  Measurements all_;
  OperationCounter counter_;
  std::unordered_map<std::string, uint32_t> model_;
  std::unordered_map<std::string, uint32_t> type_;     // key: the type in lower case
  std::unordered_map<std::string, uint32_t> written_;  // key: the type as written
  std::unordered_multimap<uint64_t, uint32_t> rows_;
};

}  // namespace

bool KnowsAll(const FeatureRow& row, const std::vector<Feature>& features) {
  return std::none_of(features.begin(), features.end(),
                      [&](Feature feature) { return std::isnan(At(row, feature)); });
}

std::vector<uint32_t> UsableRows(const Measurements& all, const ModelChoice& models,
                                 const std::vector<Feature>& features) {
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < all.rows.size(); ++i) {
    const MeasuredRow& row = all.rows[i];
    if (models[row.model] && row.measured > 0 && KnowsAll(row.features, features)) {
      rows.push_back(i);
    }
  }
  return rows;
}

Measurements Gather(const Dataset& data) { return Gatherer().Run(data); }

}  // namespace beryl::learn
