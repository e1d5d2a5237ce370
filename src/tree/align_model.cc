// Finds the modules of a model's description in a run: gives them its names and levels, and puts
// its columns beside the measured ones.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tree/match_model.h"
#include "tree/module_flows.h"
#include "tree/seen_weights.h"
#include "tree/seen_work.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

class Alignment {
 public:
  Alignment(const OpTrace& trace, const Footprint& footprint, const Description& description,
            TraceTree& built)
      : trace_(trace),
        footprint_(footprint),
        description_(description),
        built_(built),
        found_(MatchModel(trace, built, description, result_.alignment)) {}

  ModelOfRun Run(const TreeColumns& described) {
    result_.alignment.model = description_.model;
    result_.alignment.input = description_.input;
    result_.root = found_.whole;
    for (const NodeId place : place_) result_.found.push_back(place != kNoNode);
    seen_runs_ = CountRuns(trace_, built_, description_, found_);
    seen_work_ = SeeLinearWork(trace_, built_, description_, found_);
    result_.alignment.passes = seen_runs_.passes;
    ShareOutEnergy();
    AddPassColumns();
    for (const Column& column : described.columns) AddDescribed(column);
    AddWorkOfAdapters();
    AddTexts(described);
    result_.flows = FlowsOfModules(description_.flows, ModulesOfDescribed(), built_.tree);
    Rename();
    return std::move(result_);
  }

 private:
  const DescribedNode& Described(NodeId one) const {
    return description_.nodes[one_.original_of[one]];
  }

  // A model with a head contains the bare model, which the description does not separate from it.
  // And scopes without a class may hold a further place of the model, such as its gradients.
  std::vector<bool> FindBareModel() const {
    uint32_t matched = 0;
    std::vector<uint32_t> below(place_.size(), 0);
    for (NodeId node = built_.tree.size(); node-- > 1;) {
      matched += match_[node] != kNoNode ? 1 : 0;
      below[node] += place_[node] != kNoNode ? 1 : 0;
      below[built_.tree[node].parent] += below[node];
    }
    std::vector<bool> bare(place_.size(), false);
    for (NodeId node = 1; node < built_.tree.size() && match_[root_] == 0; ++node) {
      const bool inside = root_ < node && node < built_.tree[root_].end;
      bare[node] = place_[node] == kNoNode && 2 * below[node] > matched &&
                   (inside || built_.tree[node].type.empty());
    }
    return bare;
  }

  void ShareOutEnergy() {
    std::vector<double> own(built_.tree.size(), 0);  // by module, of its own operations
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
    // Everything inside a primitive belongs to it.
    std::vector<bool> inside(built_.tree.size(), false);
    const std::vector<bool> bare = FindBareModel();
    const std::vector<bool> updates = FindUpdates();
    for (NodeId node = 1; node < built_.tree.size(); ++node) {
      inside[node] = inside[built_.tree[node].parent];
      if (!IsModule(built_.tree[node].level) || !IsInModel(node)) continue;
      if (updates[node] && !inside[node] && place_[node] == kNoNode) continue;
      inside[node] = inside[node] || IsLoss(node) || IsFunction(node) ||
                     (place_[node] != kNoNode && one_.tree[place_[node]].level == Level::kMl);
      of_modules += Joules{own[node]};
      // The model's own node alone is not the model: what ran in it is not known (torch.compile).
      const bool any_found = alignment.matched_modules > 0;
      if (any_found && (place_[node] != kNoNode || inside[node] || bare[node])) {
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

  // Libraries create a loss inside the code of its model. No attribute names it, so no description
  // contains it. It counts as work of the surrounding module.
  bool IsLoss(NodeId node) const {
    return place_[built_.tree[node].parent] != kNoNode && built_.tree[node].type.ends_with("Loss");
  }

  // Operations of a module in the description may be a module in the run: a function object created
  // on the fly or shared by several modules.
  bool IsFunction(NodeId node) const {
    const NodeId around = place_[built_.tree[node].parent];
    if (around == kNoNode || built_.tree.IsLeaf(node)) return false;
    // TensorFlow's gradient of an operation is a scope.
    if (built_.tree[node].type.empty() && built_.tree[node].name.ends_with("_grad")) return true;
    const auto operation = [](std::string_view type) {
      return type.substr(type.starts_with("aten::") ? std::string_view("aten::").size() : 0);
    };
    for (NodeId below = node + 1; below < built_.tree[node].end; ++below) {
      if (IsModule(built_.tree[below].level)) return false;
    }
    for (const NodeId child : Children(one_.tree, around)) {
      if (!IsModule(one_.tree[child].level) &&
          one_.tree[child].type == operation(built_.tree[node + 1].type)) {
        return true;
      }
    }
    return false;
  }

  // Scopes without a class in which only the optimizer works (`Optimizer.step#AdamW.step`).
  std::vector<bool> FindUpdates() const {
    std::vector<bool> others(built_.tree.size(), false);
    for (uint32_t kind = 0; kind < trace_.kinds.size(); ++kind) {
      if (trace_.kinds[kind].phase != Phase::kOptimizer) others[built_.node_of_kind[kind]] = true;
    }
    others = RollUp(built_.tree, std::move(others));
    std::vector<bool> updates;
    for (NodeId node = 0; node < others.size(); ++node) {
      updates.push_back(!others[node] && built_.tree[node].type.empty());
    }
    return updates;
  }

  // Modules have a class. The collection of unclaimed operations and marked regions have none,
  // unless modules were matched by name.
  bool IsInModel(NodeId node) const {
    return !built_.tree[node].type.empty() || built_.in_names[node];
  }

  void AddPassColumns() {
    if (!result_.alignment.passes) return;
    const double passes = *result_.alignment.passes;
    Column energy = NamedColumn("pass", "pass_j", "per pass", Quantity::kEnergy);
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

  // Puts the description's numbers at the matched modules; surrounding nodes get their sum.
  void AddDescribed(const Column& column) {
    if (!LookOf(column.quantity).adds_up) return;
    if (column.quantity == Quantity::kTime) return;  // the run has measured time
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
      std::vector<double> sums = AddUp(*from);
      TakeSeenWork(column, sums);
      *to = Place(sums, to == &beside.total);
      // Further places of a module get the same values, which do not count again in their parents.
      for (NodeId node = 0; node < built_.tree.size(); ++node) {
        if (match_[node] == kNoNode && place_[node] != kNoNode) (*to)[node] = sums[place_[node]];
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

  // By node of the run. `adds_up`: nodes around modules get the sum; otherwise the value of the
  // only module inside.
  std::vector<double> Place(const std::vector<double>& sums, bool adds_up) const {
    std::vector<double> placed(built_.tree.size(), kUnknown);
    std::vector<uint32_t> parts(built_.tree.size(), 0);
    double beside = 0;  // parts of the model outside the node
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
    // They are in the whole model's value, but not inside that node of the run.
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

  // Corrects the work of a pass, by node of the description, where the run shows other work: of
  // linear layers whose inputs had other sizes, and of modules that ran in some of the passes only.
  void TakeSeenWork(const Column& column, std::vector<double>& sums) {
    const bool is_work = column.quantity == Quantity::kFlops ||
                         column.quantity == Quantity::kBytes ||
                         column.quantity == Quantity::kEnergy;
    if (!is_work || !seen_runs_.passes || description_.input.gpus > 1) return;
    constexpr double kSame = 1e-6;
    const std::vector<double> nothing(sums.size(), kUnknown);
    const std::vector<double>& seen = column.name == "flops"          ? seen_work_.flops
                                      : column.name == "matmul_flops" ? seen_work_.matmul_flops
                                                                      : nothing;
    std::vector<double> own = sums;
    for (NodeId node = 1; node < sums.size(); ++node) {
      if (!std::isnan(sums[node])) own[one_.tree[node].parent] -= sums[node];
    }
    std::vector<double> change(sums.size(), 0);
    std::vector<NodeId> changed;
    for (NodeId node = static_cast<NodeId>(sums.size()); node-- > 0;) {
      if (std::isnan(sums[node])) continue;
      change[node] += own[node] * (seen_runs_.share[node] - 1);
      if (!std::isnan(seen[node])) {
        const double off = seen[node] / *seen_runs_.passes - sums[node];
        change[node] = std::abs(off) > kSame * sums[node] ? off : 0;
      }
      sums[node] += change[node];
      if (node > 0) change[one_.tree[node].parent] += change[node];
      if (change[node] != 0 && one_.tree[node].level == Level::kMl) changed.push_back(node);
    }
    if (column.name != "flops" || changed.empty()) return;
    result_.alignment.notes.push_back({NoteKind::kWorkNotAsDescribed,
                                       description_.nodes[one_.original_of[changed.back()]].scope,
                                       {changed.size()}});
  }

  // What adapters do is not in the description. A module that is described keeps its work, and what
  // is around it has that of its adapters too.
  void AddWorkOfAdapters() {
    if (!result_.alignment.passes) return;
    const AddedWork added = SeeAddedWork(trace_, built_, description_, found_);
    if (added.modules.empty()) return;
    for (Column& column : result_.beside.columns) {
      const bool flops = column.name == "flops";
      if (!flops && column.name != "matmul_flops") continue;
      const std::vector<double> sums =
          RollUp(built_.tree, flops ? added.flops : added.matmul_flops);
      for (NodeId node = 0; node < sums.size(); ++node) {
        const bool described =
            place_[node] != kNoNode && one_.tree[place_[node]].level == Level::kMl;
        if (sums[node] == 0 || described) continue;
        double& value = column.total[node];
        value = (std::isnan(value) ? 0 : value) + sums[node] / *result_.alignment.passes;
      }
    }
    result_.alignment.notes.push_back({NoteKind::kWorkReadOffTrace,
                                       NodePath(built_.tree, added.modules.front()),
                                       {added.modules.size()}});
  }

  // The names of modules by attribute, and the shapes of what goes in and out.
  void AddTexts(const TreeColumns& described) {
    for (const char* key : {"scope", "inputs", "outputs"}) {
      const TextColumn* texts = described.FindText(key);
      if (texts == nullptr) continue;
      TextColumn& placed =
          result_.beside.texts.emplace_back(TextColumn{texts->key, texts->label, texts->kind, {}});
      placed.values.resize(built_.tree.size());
      if (match_[root_] == 0) placed.top = root_;
      for (NodeId node = 0; node < built_.tree.size(); ++node) {
        if (place_[node] == kNoNode) continue;
        placed.values[node] = texts->values[one_.original_of[place_[node]]];
      }
    }
  }

  // By node of the description: the module of the run that it is part of.
  std::vector<NodeId> ModulesOfDescribed() const {
    std::vector<NodeId> run_of(one_.tree.size(), kNoNode);
    for (NodeId node = built_.tree.size(); node-- > 0;) {
      if (match_[node] != kNoNode) run_of[match_[node]] = node;
    }
    std::vector<NodeId> modules;
    for (NodeId node : one_.node_of) {
      // Nodes that only group the phases are nowhere.
      while (node != kNoNode && node != 0 && run_of[node] == kNoNode) node = one_.tree[node].parent;
      modules.push_back(node == kNoNode ? kNoNode : run_of[node]);
    }
    return modules;
  }

  // Names below the last matched module follow the description.
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

  const OpTrace& trace_;
  const Footprint& footprint_;
  const Description& description_;
  TraceTree& built_;
  ModelOfRun result_;
  SeenRuns seen_runs_;
  LinearWork seen_work_;
  const ModelMatch found_;
  const OneModel& one_ = found_.one;
  const NodeId root_ = found_.root;
  const std::vector<NodeId>& match_ = found_.match;
  const std::vector<NodeId>& place_ = found_.place;
};

}  // namespace

ModelOfRun AlignModel(const OpTrace& trace, const Footprint& footprint,
                      const Description& description, const TreeColumns& described,
                      TraceTree& built) {
  return Alignment(trace, footprint, description, built).Run(described);
}

}  // namespace beryl::tree
