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

// The innermost module around an operation; 0: none is.
NodeId ModuleOf(const TraceTree& built, uint32_t kind) {
  NodeId node = built.node_of_kind[kind];
  while (node != 0 && !IsModule(built.tree[node].level)) node = built.tree[node].parent;
  return node;
}

// Which input of an operation is a weight; nothing: it is not known to have one.
std::optional<size_t> WeightOf(std::string_view type) {
  static constexpr std::pair<std::string_view, size_t> kWeights[] = {
      {"aten::embedding", 0},   {"aten::linear", 1},       {"aten::mm", 1},
      {"aten::addmm", 2},       {"aten::layer_norm", 2},   {"aten::native_layer_norm", 2},
      {"aten::rms_norm", 2},    {"aten::conv1d", 1},       {"aten::conv2d", 1},
      {"aten::convolution", 1}, {"aten::_convolution", 1},
  };
  for (const auto& [name, input] : kWeights) {
    if (type == name) return input;
  }
  return std::nullopt;
}

// The weights that a module of the run was seen to work with itself, told by its operations.
class SeenWeights {
 public:
  SeenWeights(const OpTrace& trace, const TraceTree& built) : shapes_(built.tree.size()) {
    for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
      const OpKind& of = trace.kinds[kind];
      if (of.shapes == 0 || of.phase != Phase::kForward) continue;
      const NodeId node = ModuleOf(built, kind);
      const std::optional<size_t> weight = WeightOf(trace.strings.Text(of.type));
      std::vector<TensorShape> shapes = ReadShapes(trace.strings.Text(of.shapes));
      for (size_t input = 0; input < shapes.size(); ++input) {
        // A vector that is multiplied by or added may be one too; larger tensors are activations.
        const bool is_weight = weight ? input == *weight : shapes[input].size() == 1;
        if (!is_weight || shapes[input].empty()) continue;
        // An adapter goes by the class of what it is put on, and holds it.
        const NodeId around = built.tree[node].parent;
        if (built.tree[around].type == built.tree[node].type) shapes_[around].insert(shapes[input]);
        shapes_[node].insert(std::move(shapes[input]));
      }
    }
  }

  // Whether weights of so many parameters are among them: a matrix, one with a bias, or the two
  // vectors of a norm. Nothing: none were seen.
  std::optional<bool> Has(NodeId node, uint64_t parameters) const {
    if (shapes_[node].empty() || parameters == 0) return std::nullopt;
    const auto wanted = static_cast<int64_t>(parameters);
    return std::any_of(shapes_[node].begin(), shapes_[node].end(), [&](const TensorShape& shape) {
      int64_t elements = 1;
      for (const int64_t size : shape) elements *= size;
      if (shape.size() == 1) return elements == wanted || 2 * elements == wanted;
      const bool with_bias = std::any_of(shape.begin(), shape.end(),
                                         [&](int64_t size) { return elements + size == wanted; });
      return elements == wanted || with_bias;
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
    FindInstances();
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
      if (match_[node] == kNoNode) continue;
      found[match_[node]] = true;
      if (match_[node] == 0) root_ = node;
      if (!hints.fits(node, match_[node]).value_or(true)) {
        result_.alignment.other_sizes.push_back(Described(match_[node]).scope);
      }
    }
    FindWhole();
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

  // The smallest part of the run that has all of the model: parts of it may be called from outside,
  // as the encoder of a generation is.
  void FindWhole() {
    result_.root = root_;
    for (NodeId node = 0; node < match_.size(); ++node) {
      if (match_[node] == kNoNode) continue;
      while (node < result_.root || node >= built_.tree[result_.root].end) {
        result_.root = built_.tree[result_.root].parent;
      }
    }
  }

  // One module may stand at several places: something is around it in one pass and not in another,
  // or a layer is computed again inside of what asked for it. Such modules are numbered by class.
  // Two classes of one name have the same numbers, so that what is around a module has to be the
  // same too, unless it is no module.
  void FindInstances() {
    place_ = match_;
    std::map<std::string_view, NodeId> instances;
    const auto is_instance = [&](NodeId node) {
      const TreeNode& of = built_.tree[node];
      return !of.type.empty() && IsModule(of.level) && of.name.starts_with(of.type + "_");
    };
    const auto around = [&](NodeId node) {
      do node = built_.tree[node].parent;
      while (node != 0 && !is_instance(node));
      return built_.tree[node].name;
    };
    for (NodeId node = 0; node < match_.size(); ++node) {
      if (match_[node] != kNoNode && is_instance(node)) {
        instances.emplace(built_.tree[node].name, node);
      }
    }
    for (NodeId node = 0; node < match_.size(); ++node) {
      if (match_[node] != kNoNode || !is_instance(node)) continue;
      const auto same = instances.find(built_.tree[node].name);
      if (same == instances.end()) continue;
      const bool in_module = is_instance(built_.tree[node].parent);
      if (!in_module || around(node) == around(same->second)) {
        place_[node] = match_[same->second];
      }
    }
  }

  // A model with a head holds the bare one, which the description does not tell apart from it.
  std::vector<bool> FindBareModel() const {
    std::vector<uint32_t> below(match_.size(), 0);
    for (NodeId node = built_.tree.size(); node-- > 1;) {
      below[node] += match_[node] != kNoNode ? 1 : 0;
      below[built_.tree[node].parent] += below[node];
    }
    std::vector<bool> bare(match_.size(), false);
    for (NodeId node = root_ + 1; node < built_.tree[root_].end && match_[root_] == 0; ++node) {
      bare[node] = match_[node] == kNoNode && 2 * below[node] > below[0];
    }
    return bare;
  }

  // A primitive calls its main operation once each time it runs, and none less often.
  void CountPasses() {
    const std::vector<uint64_t> counts = CountKinds(trace_);
    // Kinds that differ in their shapes only stand at the same node.
    std::map<NodeId, uint64_t> calls_of_operation;
    for (uint32_t kind = 0; kind < trace_.kinds.size(); ++kind) {
      if (trace_.kinds[kind].phase != Phase::kForward) continue;
      calls_of_operation[built_.node_of_kind[kind]] += counts[kind];
    }
    std::vector<uint64_t> calls(built_.tree.size(), 0);
    for (const auto& [node, here] : calls_of_operation) {
      uint64_t& fewest = calls[built_.tree[node].parent];
      fewest = fewest == 0 ? here : std::min(fewest, here);
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

  void ShareOutEnergy() {
    std::vector<double> own(built_.tree.size(), 0);  // by module, with its own operations
    bool known = false;
    for (const EnergyShare& share : footprint_.shares) {
      if (!share.IsKnown()) continue;
      known = true;
      own[ModuleOf(built_, share.kind)] += share.energy.value;
    }
    if (!known) return;
    ModelAlignment& alignment = result_.alignment;
    Joules of_modules;
    Joules of_matched;
    // What is inside of a primitive is the primitive's, whatever it is made of.
    std::vector<bool> inside(built_.tree.size(), false);
    const std::vector<bool> bare = FindBareModel();
    for (NodeId node = 1; node < built_.tree.size(); ++node) {
      inside[node] = inside[built_.tree[node].parent];
      if (!IsModule(built_.tree[node].level) || !IsInModel(node)) continue;
      inside[node] = inside[node] || IsLoss(node) ||
                     (place_[node] != kNoNode && one_.tree[place_[node]].level == Level::kMl);
      of_modules += Joules{own[node]};
      if (place_[node] != kNoNode || inside[node] || bare[node]) {
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
    return place_[built_.tree[node].parent] != kNoNode && built_.tree[node].type.ends_with("Loss");
  }

  // Modules have a class; the collection of what no module claims and regions that were marked
  // have none, unless names and not classes were what matched.
  bool IsInModel(NodeId node) const {
    return !built_.tree[node].type.empty() || built_.in_names[node];
  }

  void AddPassColumns() {
    if (!result_.alignment.passes) return;
    const double passes = *result_.alignment.passes;
    Column energy = NamedColumn("pass", "pass_j", "a pass", Quantity::kEnergy);
    Column time = NamedColumn("pass_time", "pass_s", "time", Quantity::kTime);
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
      if (!from->empty()) *to = Place(AddUp(*from), to == &beside.total);
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

  // By node of the run. `adds_up`: what is around modules has what they have together; else it has
  // what the only one in it has.
  std::vector<double> Place(const std::vector<double>& sums, bool adds_up) const {
    std::vector<double> placed(built_.tree.size(), kUnknown);
    std::vector<uint32_t> parts(built_.tree.size(), 0);
    double beside = 0;  // parts of the model that stand outside of it
    for (NodeId node = built_.tree.size(); node-- > 0;) {
      double& value = placed[node];
      const bool outside = node < root_ || node >= built_.tree[root_].end;
      if (match_[node] != kNoNode) value = sums[match_[node]];
      if (!adds_up && match_[node] == kNoNode && parts[node] > 1) value = kUnknown;
      if (node == 0) break;
      const NodeId around = built_.tree[node].parent;
      if (std::isnan(value)) continue;
      ++parts[around];
      placed[around] = std::isnan(placed[around]) ? value : placed[around] + value;
      if (outside && match_[node] != kNoNode && match_[around] == kNoNode) beside += value;
    }
    if (beside == 0 || match_[root_] != 0) return placed;
    // They are in what the whole model has, and not in what the run has inside of it.
    const double inside = adds_up ? placed[root_] - beside : kUnknown;
    for (NodeId node = root_;; node = built_.tree[node].parent) {
      placed[node] = node == root_ ? inside : adds_up ? placed[node] - beside : kUnknown;
      if (node == 0) break;
    }
    return placed;
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
    TextColumn scopes{"scope", "scope", TextColumn::Kind::kText, {}};
    scopes.values.resize(built_.tree.size());
    for (NodeId node = 0; node < built_.tree.size(); ++node) {
      if (place_[node] != kNoNode) scopes.values[node] = Described(place_[node]).scope;
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
      around[node] = place_[node] != kNoNode ? place_[node] : outer;
      if (place_[node] == kNoNode || place_[node] == 0 || node == 0) continue;
      TreeNode& of = built_.tree.nodes[node];
      const std::string& scope = Described(place_[node]).scope;
      const std::string within = outer == kNoNode ? "" : Described(outer).scope + ".";
      of.name =
          within.size() > 1 && scope.starts_with(within) ? scope.substr(within.size()) : scope;
      of.type = one_.tree[place_[node]].type;
      of.level = one_.tree[place_[node]].level;
    }
  }

  static constexpr size_t kPassSamples = 101;

  const OpTrace& trace_;
  const Footprint& footprint_;
  const Description& description_;
  TraceTree& built_;
  OneModel one_;
  NodeId root_ = 0;            // of the run: what the whole description is
  std::vector<NodeId> match_;  // by node of the run: of `one_`
  std::vector<NodeId> place_;  // the same, with further places of what was matched
  ModelOfRun result_;
};

}  // namespace

TreeColumns WithoutPhases(const Description& description, TreeColumns tree) {
  if (description.nodes[0].phase != RunPhase::kAll) return tree;
  OneModel one = AddPhases(description);
  const size_t nodes = one.tree.size();
  // What the phases have together comes last, and is cut off.
  std::replace(one.node_of.begin(), one.node_of.end(), kNoNode, static_cast<NodeId>(nodes));
  TreeColumns together;
  for (const Column& column : tree.columns) {
    auto sum = Regroup(column, one.node_of, nodes + 1);
    if (!sum) continue;
    for (std::vector<double>* values : {&sum->self, &sum->total, &sum->low, &sum->high}) {
      if (!values->empty()) values->pop_back();
    }
    together.columns.push_back(*std::move(sum));
  }
  for (const TextColumn& column : tree.texts) {
    TextColumn& texts = together.texts.emplace_back(column);
    texts.values.clear();
    for (const NodeId node : one.original_of) texts.values.push_back(column.values[node]);
  }
  together.tree = std::move(one.tree);
  return together;
}

ModelOfRun AlignModel(const OpTrace& trace, const Footprint& footprint,
                      const Description& description, const TreeColumns& described,
                      TraceTree& built) {
  return Alignment(trace, footprint, description, built).Run(described);
}

}  // namespace beryl::tree
