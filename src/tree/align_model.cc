// A run's modules as those of a model's description: names, levels, and the description's columns
// beside what was measured.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tree/seen_shapes.h"
#include "tree/tree.h"
#include "types/align_trees.h"
#include "types/merge_trees.h"

namespace beryl::tree {
namespace {

// A description with prefill and decode, which a run does not tell apart, as one model.
struct OneModel {
  ModelTree tree;
  std::vector<NodeId> node_of;      // by node of the description; kNoNode: of the phases together
  std::vector<NodeId> original_of;  // by node of `tree`: the first that became it
};

ModelTree Below(const ModelTree& tree, NodeId top) {
  ModelTree part;
  part.nodes.assign(tree.nodes.begin() + top, tree.nodes.begin() + tree[top].end);
  for (TreeNode& node : part.nodes) node.parent = node.parent < top ? 0 : node.parent - top;
  CloseTree(part);
  return part;
}

OneModel AddPhases(const Description& description) {
  OneModel one;
  const ModelTree& tree = description.tree;
  one.node_of.assign(tree.size(), kNoNode);
  if (description.nodes[0].phase != RunPhase::kAll) {
    one.tree = tree;
    for (NodeId node = 0; node < tree.size(); ++node) one.node_of[node] = node;
    one.original_of = one.node_of;
    return one;
  }
  std::vector<NodeId> tops;
  std::vector<ModelTree> parts;
  for (const NodeId top : Children(tree, 0)) {
    tops.push_back(top);
    parts.push_back(Below(tree, top));
  }
  std::vector<const ModelTree*> pointers;
  pointers.reserve(parts.size());
  for (const ModelTree& part : parts) pointers.push_back(&part);
  Merging merging = Merge(pointers);
  one.tree = std::move(merging.tree);
  one.original_of.assign(one.tree.size(), kNoNode);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (NodeId node = 0; node < parts[part].size(); ++node) {
      const NodeId place = merging.node_of[part][node];
      one.node_of[tops[part] + node] = place;
      if (one.original_of[place] == kNoNode) one.original_of[place] = tops[part] + node;
    }
  }
  return one;
}

// What tensors a module of the run was seen to work on itself, told by its operations.
class SeenWeights {
 public:
  SeenWeights(const OpTrace& trace, const TraceTree& built) : shapes_(built.tree.size()) {
    for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
      const OpKind& of = trace.kinds[kind];
      if (of.shapes == 0 || of.phase != Phase::kForward) continue;
      NodeId node = built.node_of_kind[kind];
      while (node != 0 && !IsModule(built.tree[node].level)) node = built.tree[node].parent;
      for (TensorShape& shape : ReadShapes(trace.strings.Text(of.shapes))) {
        if (!shape.empty()) shapes_[node].insert(std::move(shape));
      }
    }
  }

  // Whether weights of so many parameters are among them: a matrix, one with a bias, or the two
  // vectors of a norm. Nothing: no shapes were seen.
  std::optional<bool> Has(NodeId node, uint64_t parameters) const {
    if (shapes_[node].empty() || parameters == 0) return std::nullopt;
    const auto wanted = static_cast<int64_t>(parameters);
    return std::any_of(shapes_[node].begin(), shapes_[node].end(), [&](const TensorShape& shape) {
      int64_t elements = 1;
      for (const int64_t size : shape) elements *= size;
      const bool with_bias = std::any_of(shape.begin(), shape.end(),
                                         [&](int64_t size) { return elements + size == wanted; });
      return elements == wanted || 2 * elements == wanted || with_bias;
    });
  }

 private:
  std::vector<std::set<TensorShape>> shapes_;
};

// Whether a node is a module of its own that a run can show, and not a function inside of one.
bool IsOwnModule(const Description& description, NodeId node) {
  const TreeNode& of = description.tree[node];
  if (!IsModule(of.level)) return false;
  return description.nodes[node].scope != description.nodes[of.parent].scope;
}

bool DoesSomething(const DescribedNode& node) {
  return node.runs > 0 && (node.work.flops > 0 || node.work.Bytes() > 0 || node.parameters > 0);
}

class Alignment {
 public:
  Alignment(const OpTrace& trace, const Footprint& footprint, const Description& description,
            TraceTree& built)
      : trace_(trace),
        footprint_(footprint),
        description_(description),
        built_(built),
        one_(AddPhases(description)) {}

  ModelOfRun Run(const TreeColumns& described) {
    result_.alignment.model = description_.model;
    result_.alignment.input = description_.input;
    Match();
    CountPasses();
    ShareOutEnergy();
    AddPassColumns();
    for (const Column& column : described.columns) AddDescribed(column);
    AddScopes();
    AddFlows();
    Rename();
    return std::move(result_);
  }

 private:
  const DescribedNode& Described(NodeId one) const {
    return description_.nodes[one_.original_of[one]];
  }

  void Match() {
    const SeenWeights weights(trace_, built_);
    AlignHints hints;
    hints.is_module.resize(one_.tree.size());
    for (NodeId node = 1; node < one_.tree.size(); ++node) {
      hints.is_module[node] =
          IsOwnModule(description_, one_.original_of[node]) && Described(node).runs > 0;
    }
    hints.fits = [&](NodeId run, NodeId described) -> std::optional<bool> {
      if (one_.tree[described].level != Level::kMl) return std::nullopt;
      return weights.Has(run, Described(described).parameters);
    };
    match_ = Align(built_.tree, one_.tree, hints);
    std::vector<bool> found(one_.tree.size(), false);
    for (NodeId node = 0; node < match_.size(); ++node) {
      if (match_[node] != kNoNode) found[match_[node]] = true;
      if (match_[node] == 0) result_.root = node;
    }
    for (NodeId node = 1; node < one_.tree.size(); ++node) {
      if (!hints.is_module[node] || !DoesSomething(Described(node))) continue;
      ++result_.alignment.described_modules;
      if (found[node]) {
        ++result_.alignment.matched_modules;
      } else {
        result_.alignment.not_found.push_back(Described(node).scope);
      }
    }
  }

  // A primitive calls its main operation once each time it runs, and none less often.
  void CountPasses() {
    const std::vector<uint64_t> counts = CountKinds(trace_);
    std::vector<uint64_t> calls(built_.tree.size(), 0);
    for (uint32_t kind = 0; kind < trace_.kinds.size(); ++kind) {
      if (trace_.kinds[kind].phase != Phase::kForward) continue;
      const NodeId parent = built_.tree[built_.node_of_kind[kind]].parent;
      const uint64_t here = CallsOf(kind, counts);
      calls[parent] = calls[parent] == 0 ? here : std::min(calls[parent], here);
    }
    std::vector<double> passes;
    for (NodeId node = 0; node < built_.tree.size(); ++node) {
      if (match_[node] == kNoNode || calls[node] == 0) continue;
      double runs = 0;
      for (NodeId of = 0; of < description_.tree.size(); ++of) {
        if (one_.node_of[of] == match_[node]) runs += description_.nodes[of].runs;
      }
      const bool weighted = Described(match_[node]).parameters > 0;
      if (one_.tree[match_[node]].level == Level::kMl && weighted && runs > 0) {
        passes.push_back(static_cast<double>(calls[node]) / runs);
      }
      if (passes.size() == kPassSamples) break;
    }
    if (passes.empty()) return;
    const auto middle = passes.begin() + static_cast<std::ptrdiff_t>(passes.size() / 2);
    std::nth_element(passes.begin(), middle, passes.end());
    result_.alignment.passes = *middle;
  }

  // Kinds that differ in their shapes only stand at the same node.
  uint64_t CallsOf(uint32_t kind, const std::vector<uint64_t>& counts) {
    if (calls_of_node_.empty()) {
      for (uint32_t at = 0; at < trace_.kinds.size(); ++at) {
        if (trace_.kinds[at].phase == Phase::kForward) {
          calls_of_node_[built_.node_of_kind[at]] += counts[at];
        }
      }
    }
    return calls_of_node_[built_.node_of_kind[kind]];
  }

  void ShareOutEnergy() {
    std::vector<double> own(built_.tree.size(), 0);  // by module, with its own operations
    bool known = false;
    for (const EnergyShare& share : footprint_.shares) {
      if (!share.IsKnown()) continue;
      known = true;
      NodeId node = built_.node_of_kind[share.kind];
      while (node != 0 && !IsModule(built_.tree[node].level)) node = built_.tree[node].parent;
      own[node] += share.energy.value;
    }
    if (!known) return;
    ModelAlignment& alignment = result_.alignment;
    Joules of_modules;
    Joules of_matched;
    // What is inside of a primitive is the primitive's, whatever it is made of.
    std::vector<bool> inside(built_.tree.size(), false);
    for (NodeId node = 1; node < built_.tree.size(); ++node) {
      if (!IsModule(built_.tree[node].level) || !IsInModel(node)) continue;
      const NodeId parent = built_.tree[node].parent;
      inside[node] = inside[parent] || IsLoss(node) ||
                     (match_[node] != kNoNode && one_.tree[match_[node]].level == Level::kMl);
      of_modules += Joules{own[node]};
      if (match_[node] != kNoNode || inside[node]) {
        of_matched += Joules{own[node]};
      } else {
        alignment.unmatched.push_back({NodePath(built_.tree, node), Joules{own[node]}});
      }
    }
    alignment.module_energy = of_modules;
    alignment.matched_energy = of_matched;
    std::stable_sort(alignment.unmatched.begin(), alignment.unmatched.end(),
                     [](const auto& a, const auto& b) { return a.energy > b.energy; });
  }

  // Libraries make a loss on the spot, in the code of the model that has it: no attribute names it,
  // so no description does. It is the work of the module around it.
  bool IsLoss(NodeId node) const {
    return match_[built_.tree[node].parent] != kNoNode && built_.tree[node].type.ends_with("Loss");
  }

  // Modules have a class; the collection of what no module claims and regions that were marked
  // have none, unless names and not classes were what matched.
  bool IsInModel(NodeId node) const {
    return !built_.tree[node].type.empty() || built_.in_names[node];
  }

  void AddPassColumns() {
    if (!result_.alignment.passes) return;
    const double passes = *result_.alignment.passes;
    Column energy;
    energy.name = "pass";
    energy.key = "pass_j";
    energy.label = "a pass";
    energy.prefix = "pass_";
    Column time = energy;
    time.name = "pass_time";
    time.key = "pass_s";
    time.prefix = "pass_time_";
    time.label = "time";
    time.quantity = Quantity::kTime;
    Footprint forward = footprint_;
    std::erase_if(forward.shares, [&](const EnergyShare& share) {
      return trace_.kinds[share.kind].phase != Phase::kForward || !share.IsKnown();
    });
    energy.self.assign(built_.tree.size(), 0);
    for (const EnergyShare& share : forward.shares) {
      energy.self[built_.node_of_kind[share.kind]] += share.energy.value;
      if (footprint_.channels[share.channel].origin == Origin::kEstimated) {
        energy.origin = Origin::kEstimated;
      }
    }
    time.self = SelfSeconds(forward, built_);
    for (Column* column : {&energy, &time}) {
      column->total = RollUp(built_.tree, column->self);
      for (double& value : column->total) value /= passes;
      column->self.clear();
      result_.beside.columns.push_back(std::move(*column));
    }
  }

  // The description's numbers at the modules that matched; what is around them has what is in it.
  void AddDescribed(const Column& column) {
    if (!LookOf(column.quantity).adds_up) return;
    if (column.quantity == Quantity::kTime) return;  // of the run there is a measured one
    Column beside = column;
    if (column.quantity == Quantity::kEnergy) {
      beside.name = beside.label = "predicted";
      beside.key = "predicted_j";
      beside.prefix = "predicted_";
    }
    beside.self.clear();
    for (auto [from, to] :
         {std::pair(&column.total, &beside.total), std::pair(&column.low, &beside.low),
          std::pair(&column.high, &beside.high)}) {
      if (from->empty()) continue;
      const std::vector<double> sums = AddUp(*from);
      to->assign(built_.tree.size(), kUnknown);
      for (NodeId node = built_.tree.size(); node-- > 0;) {
        double& value = (*to)[node];
        if (match_[node] != kNoNode) value = sums[match_[node]];
        double& outer = (*to)[built_.tree[node].parent];
        if (node > 0 && !std::isnan(value)) outer = std::isnan(outer) ? value : outer + value;
      }
    }
    if (!column.marked.empty()) {
      beside.marked.assign(built_.tree.size(), false);
      for (NodeId node = 0; node < built_.tree.size(); ++node) {
        beside.marked[node] =
            match_[node] != kNoNode && column.marked[one_.original_of[match_[node]]];
      }
    }
    result_.beside.columns.push_back(std::move(beside));
  }

  std::vector<double> AddUp(const std::vector<double>& values) const {
    std::vector<double> sums(one_.tree.size(), kUnknown);
    for (NodeId node = 0; node < one_.node_of.size(); ++node) {
      if (one_.node_of[node] == kNoNode) continue;
      double& sum = sums[one_.node_of[node]];
      sum = std::isnan(sum) ? values[node] : sum + values[node];
    }
    return sums;
  }

  void AddScopes() {
    TextColumn scopes;
    scopes.key = scopes.label = "scope";
    scopes.values.resize(built_.tree.size());
    for (NodeId node = 0; node < built_.tree.size(); ++node) {
      if (match_[node] != kNoNode) scopes.values[node] = Described(match_[node]).scope;
    }
    result_.beside.texts.push_back(std::move(scopes));
  }

  // What an operation of the description gives another, as what their modules give each other.
  void AddFlows() {
    std::vector<NodeId> run_of(one_.tree.size(), kNoNode);
    for (NodeId node = built_.tree.size(); node-- > 0;) {
      if (match_[node] != kNoNode) run_of[match_[node]] = node;
    }
    const auto module_of = [&](NodeId described) {
      NodeId node = one_.node_of[described];
      while (node != 0 && run_of[node] == kNoNode) node = one_.tree[node].parent;
      return run_of[node];
    };
    for (const Flow& flow : description_.flows) {
      const Flow found = {module_of(flow.from), module_of(flow.to)};
      if (found.from == kNoNode || found.to == kNoNode || found.from == found.to) continue;
      result_.flows.push_back(found);
    }
    std::sort(result_.flows.begin(), result_.flows.end());
    result_.flows.erase(std::unique(result_.flows.begin(), result_.flows.end()),
                        result_.flows.end());
  }

  // The description's names from the last module around it that matched on.
  void Rename() {
    std::vector<NodeId> around(built_.tree.size(), kNoNode);
    for (NodeId node = 0; node < built_.tree.size(); ++node) {
      const NodeId outer = node == 0 ? kNoNode : around[built_.tree[node].parent];
      around[node] = match_[node] != kNoNode ? match_[node] : outer;
      if (match_[node] == kNoNode || match_[node] == 0 || node == 0) continue;
      TreeNode& of = built_.tree.nodes[node];
      const std::string& scope = Described(match_[node]).scope;
      const std::string within = outer == kNoNode ? "" : Described(outer).scope + ".";
      of.name =
          within.size() > 1 && scope.starts_with(within) ? scope.substr(within.size()) : scope;
      of.type = one_.tree[match_[node]].type;
      of.level = one_.tree[match_[node]].level;
    }
  }

  static constexpr size_t kPassSamples = 101;

  const OpTrace& trace_;
  const Footprint& footprint_;
  const Description& description_;
  TraceTree& built_;
  OneModel one_;
  std::vector<NodeId> match_;  // by node of the run: of `one_`
  std::map<NodeId, uint64_t> calls_of_node_;
  ModelOfRun result_;
};

}  // namespace

ModelOfRun AlignModel(const OpTrace& trace, const Footprint& footprint,
                      const Description& description, const TreeColumns& described,
                      TraceTree& built) {
  return Alignment(trace, footprint, description, built).Run(described);
}

}  // namespace beryl::tree
