// Where a model's energy goes: IrEne's Tables 10 and 12, and its Figure 5.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/known_energy.h"
#include "types/fold_tree.h"

namespace beryl::analyze {
namespace {

constexpr size_t kNoPart = ~size_t{0};

// The node of `reference` that corresponds to each node of `tree`: same parent, name, type, and
// position among its equals.
std::vector<NodeId> SameNodes(const ModelTree& reference, const ModelTree& tree) {
  using Key = std::tuple<NodeId, std::string_view, std::string_view>;
  std::map<std::pair<Key, size_t>, NodeId> known;
  std::map<Key, size_t> seen;
  for (NodeId id = 1; id < reference.nodes.size(); ++id) {
    const TreeNode& node = reference.nodes[id];
    const Key key{node.parent, node.name, node.type};
    known.emplace(std::make_pair(key, seen[key]++), id);
  }
  seen.clear();
  std::vector<NodeId> same(tree.nodes.size(), kNoNode);
  if (!same.empty()) same[0] = 0;
  for (NodeId id = 1; id < tree.nodes.size(); ++id) {
    const TreeNode& node = tree.nodes[id];
    if (same[node.parent] == kNoNode) continue;
    const Key key{same[node.parent], node.name, node.type};
    const auto found = known.find({key, seen[key]++});
    if (found != known.end()) same[id] = found->second;
  }
  return same;
}

class ModelBreakdown {
 public:
  ModelBreakdown(const Dataset& data, std::string model, std::vector<size_t> runs,
                 std::vector<Note>& notes)
      : data_(data), runs_(std::move(runs)), notes_(notes) {
    result_.model = std::move(model);
    const size_t fullest = *std::max_element(runs_.begin(), runs_.end(), [&](size_t a, size_t b) {
      return data_.runs[a].tree.nodes.size() < data_.runs[b].tree.nodes.size();
    });
    reference_ = &data_.runs[fullest].tree;
    folded_ = Fold(*reference_);
    result_.tree.tree = folded_.tree;
    for (const size_t run : runs_) same_.push_back(SameNodes(*reference_, data_.runs[run].tree));
    FindParts();
  }

  Breakdown Run(const std::vector<Column>& predicted) {
    std::vector<const std::vector<double>*> measured_columns;
    std::vector<const std::vector<double>*> predicted_columns;
    for (const size_t run : runs_) {
      measured_columns.push_back(&data_.runs[run].measured);
      if (!predicted.empty()) predicted_columns.push_back(&predicted[run].total);
    }
    Column measured = NamedColumn("measured", "measured_j", "measured", Quantity::kEnergy);
    result_.measured_runs =
        AddUp(measured_columns, "measured", &TwoEnergies::measured, measured.total);
    Column by_profile = PredictedColumn(Origin::kPredicted, "");
    result_.predicted_runs =
        AddUp(predicted_columns, "predicted", &TwoEnergies::predicted, by_profile.total);
    for (Column* column : {&measured, &by_profile}) {
      if (column->total.empty()) continue;
      Column share = ShareOf(*column, column->prefix + "share");
      result_.tree.columns.push_back(std::move(*column));
      result_.tree.columns.push_back(std::move(share));
    }
    const auto by = result_.measured_runs > 0 ? &TwoEnergies::measured : &TwoEnergies::predicted;
    // Unknown values come last.
    std::stable_sort(result_.parts.begin(), result_.parts.end(),
                     [&](const auto& a, const auto& b) { return a.energy.*by > b.energy.*by; });
    return std::move(result_);
  }

 private:
  void FindParts() {
    const auto& nodes = reference_->nodes;
    std::vector<bool> has_module(nodes.size(), false);
    for (NodeId id = 1; id < nodes.size(); ++id) {
      if (nodes[id].level != Level::kMl) has_module[nodes[id].parent] = true;
    }
    part_of_.resize(nodes.size(), kNoPart);
    for (NodeId id = 1; id < nodes.size(); ++id) {
      const TreeNode& node = nodes[id];
      const bool primitive = node.level == Level::kMl;
      // The root is not a part of itself: primitives directly below it are parts of their own.
      const bool alone = node.parent == 0 || has_module[node.parent];
      if (primitive ? alone : !has_module[id]) part_of_[id] = PartOf(node);
    }
  }

  size_t PartOf(const TreeNode& node) {
    const std::string& type = node.type.empty() ? node.name : node.type;
    auto found = std::find_if(result_.parts.begin(), result_.parts.end(), [&](const auto& part) {
      return part.type == type && part.level == node.level;
    });
    if (found == result_.parts.end()) {
      result_.parts.push_back({type, node.level, 0, {}});
      found = result_.parts.end() - 1;
    }
    ++found->nodes;
    return static_cast<size_t>(found - result_.parts.begin());
  }

  // Fills in one column of each run; returns for how many runs it is known.
  uint64_t AddUp(const std::vector<const std::vector<double>*>& columns, std::string_view what,
                 std::optional<Joules> TwoEnergies::*place, std::vector<double>& by_node) {
    uint64_t used = 0;
    double whole = 0;
    std::vector<double> parts(result_.parts.size(), 0);
    std::vector<uint64_t> known(result_.parts.size(), 0);
    std::vector<double> nodes(folded_.tree.nodes.size(), 0);
    uint64_t missing = 0;
    std::string first_missing;
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::vector<double>& column = *columns[i];
      if (column.empty() || std::isnan(column[0])) continue;
      ++used;
      whole += column[0];
      std::vector<double> run(reference_->nodes.size(), kUnknown);
      for (size_t id = 0; id < column.size() && id < same_[i].size(); ++id) {
        if (same_[i][id] != kNoNode) run[same_[i][id]] = column[id];
      }
      for (NodeId id = 0; id < run.size(); ++id) {
        // A sum with an unknown term is unknown.
        nodes[folded_.node_of[id]] += run[id];
        const size_t part = part_of_[id];
        if (part == kNoPart) continue;
        if (std::isnan(run[id])) {
          if (missing++ == 0) first_missing = Place(runs_[i], id);
          continue;
        }
        parts[part] += run[id];
        ++known[part];
      }
    }
    if (used == 0) return 0;
    if (missing > 0) {
      Note& note = notes_.emplace_back(NoteKind::kPartWithoutEnergy, result_.model,
                                       std::vector<NoteValue>{what});
      note.count = missing;
      note.first = first_missing;
    }
    const auto runs = static_cast<double>(used);
    const Joules mean{whole / runs};
    Joules in_parts;
    for (size_t part = 0; part < parts.size(); ++part) {
      if (known[part] == 0) continue;
      const Joules of_part{parts[part] / runs};
      result_.parts[part].energy.*place = of_part;
      in_parts += of_part;
    }
    result_.whole.*place = mean;
    result_.rest.*place = mean - in_parts;
    result_.sum.*place = in_parts + (mean - in_parts);
    for (double& joules : nodes) joules /= runs;
    by_node = std::move(nodes);
    return used;
  }

  std::string Place(size_t run, NodeId node) const {
    const ModelRun& at = data_.runs[run];
    return fmt::format("{} {} {}", at.model, SizeText({at.batch_size, at.seq_len}),
                       ScopeOf(*reference_, node));
  }

  const Dataset& data_;
  std::vector<size_t> runs_;
  std::vector<Note>& notes_;
  const ModelTree* reference_ = nullptr;
  Folding folded_;
  std::vector<std::vector<NodeId>> same_;  // by run: the reference node of each of its nodes
  std::vector<size_t> part_of_;            // by node of the reference
  Breakdown result_;
};

}  // namespace

Result<std::vector<Breakdown>> BreakDown(const Dataset& data, const std::vector<Column>& predicted,
                                         std::vector<Note>& notes) {
  std::vector<Breakdown> breakdowns;
  bool known = false;
  for (const std::string& model : ModelsOf(data)) {
    std::vector<size_t> runs;
    for (size_t run = 0; run < data.runs.size(); ++run) {
      if (data.runs[run].model == model && !data.runs[run].tree.nodes.empty()) runs.push_back(run);
    }
    if (runs.empty()) continue;
    breakdowns.push_back(ModelBreakdown(data, model, std::move(runs), notes).Run(predicted));
    known = known || breakdowns.back().measured_runs + breakdowns.back().predicted_runs > 0;
  }
  if (!known) return NoEnergyError(data, !predicted.empty());
  return breakdowns;
}

}  // namespace beryl::analyze
