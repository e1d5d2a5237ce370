#include "analyze/differences.h"

#include <algorithm>
#include <cmath>

#include "analyze/figures.h"
#include "analyze/profile.h"
#include "types/unknown.h"

namespace beryl::analyze {
namespace {

// A node needs at least this share of all differences for a row of its own, which limits the rows
// to fifty, however large the tree.
constexpr double kWorthARow = 0.02;

RowsOfKind OwnNode(const TraceTree& tree) {
  RowsOfKind rows;
  for (const NodeId node : tree.node_of_kind) rows.push_back({node});
  return rows;
}

// `of_blocks` makes the figures of a run with blocks.
template <typename Rows, typename OfBlocks>
std::vector<SideFigures> FiguresBy(const Side& side, const Rows& rows, size_t count,
                                   OfBlocks&& of_blocks) {
  std::vector<SideFigures> figures(count);
  for (const RunOnSide& run : side) {
    const RowsOfKind of_kind = rows(*run.tree);
    const auto own = run.blocks ? of_blocks(*run.footprint, of_kind, count, *run.blocks)
                                : Figures(*run.footprint, of_kind, count, false);
    for (size_t row = 0; row < count; ++row) figures[row].runs.push_back(own[row]);
  }
  return figures;
}

class Finder {
 public:
  Finder(const Side& before, const Side& after, const Circumstances& whole)
      : before_(before),
        after_(after),
        tree_(before.front().tree->tree),
        of_a_part_(OfAPart(whole)),
        in_before_(Presence(before)),
        in_after_(Presence(after)) {}

  Differences Run(const DifferenceOptions& options) {
    options.level ? RowsByLevel(*options.level) : RowsByWorth();
    const size_t count = node_of_row_.size();
    const auto before = FiguresOf(before_, rows_of_, count);
    const auto after = FiguresOf(after_, rows_of_, count);
    for (size_t row = 0; row < count; ++row) Add(row, before[row], after[row]);
    std::stable_sort(found_.rows.begin(), found_.rows.end(),
                     [](const DifferenceRow& a, const DifferenceRow& b) {
                       auto size = [](const DifferenceRow& row) {
                         return row.difference ? std::fabs(row.difference->value) : -1;
                       };
                       return size(a) > size(b);
                     });
    Discover(options.false_discovery);
    return std::move(found_);
  }

 private:
  // By node: whether a run of the side has an operation there or below.
  static std::vector<bool> Presence(const Side& side) {
    const ModelTree& tree = side.front().tree->tree;
    std::vector<bool> present(tree.nodes.size(), false);
    for (const RunOnSide& run : side) {
      for (const NodeId node : run.tree->node_of_kind) present[node] = true;
    }
    return RollUp(tree, std::move(present));
  }

  void RowsByLevel(NameLevel level) {
    std::vector<uint32_t> row_of_node(tree_.nodes.size(), kNoRow);
    for (const Side* side : {&before_, &after_}) {
      for (const RunOnSide& run : *side) {
        for (uint32_t kind = 0; kind < run.tree->node_of_kind.size(); ++kind) {
          for (const NodeId node : NodesAt(*run.tree, kind, level)) {
            if (row_of_node[node] != kNoRow) continue;
            row_of_node[node] = static_cast<uint32_t>(node_of_row_.size());
            node_of_row_.push_back(node);
            is_rest_.push_back(false);
          }
        }
      }
    }
    rows_of_ = [row_of_node = std::move(row_of_node), level](const TraceTree& tree) {
      RowsOfKind rows(tree.node_of_kind.size());
      for (uint32_t kind = 0; kind < rows.size(); ++kind) {
        for (const NodeId node : NodesAt(tree, kind, level))
          rows[kind].push_back(row_of_node[node]);
      }
      return rows;
    };
  }

  void RowsByWorth() {
    const size_t nodes = tree_.nodes.size();
    const auto before = MeansOf(before_, nodes);
    const auto after = MeansOf(after_, nodes);
    std::vector<double> left(nodes, 0);
    std::vector<bool> unknown(nodes, false);
    double moved = 0;
    for (size_t id = 0; id < nodes; ++id) {
      // Half a difference would be worse than none.
      unknown[id] = IsUnknown(before[id], after[id]);
      if (unknown[id]) {
        ++found_.unknown_names;
        continue;
      }
      left[id] = (after[id].energy() - before[id].energy()).value;
      moved += std::fabs(left[id]);
    }
    std::vector<bool> listed(nodes, false);
    std::vector<bool> has_listed(nodes, false);
    for (size_t id = nodes; id-- > 0;) {
      listed[id] = id == 0 || (moved > 0 && std::fabs(left[id]) >= kWorthARow * moved);
      if (id == 0) break;
      const NodeId parent = tree_.nodes[id].parent;
      if (!listed[id]) left[parent] += left[id];
      if (listed[id] || has_listed[id]) has_listed[parent] = true;
    }
    std::vector<uint32_t> row_of_node(nodes, kNoRow);
    for (NodeId id = 0; id < nodes; ++id) {
      row_of_node[id] = row_of_node[tree_.nodes[id].parent];
      if (!listed[id]) continue;
      row_of_node[id] = static_cast<uint32_t>(node_of_row_.size());
      node_of_row_.push_back(id);
      is_rest_.push_back(has_listed[id]);
    }
    rows_of_ = [row_of_node = std::move(row_of_node),
                unknown = std::move(unknown)](const TraceTree& tree) {
      RowsOfKind rows;
      for (const NodeId node : tree.node_of_kind) {
        rows.emplace_back();
        if (!unknown[node]) rows.back().push_back(row_of_node[node]);
      }
      return rows;
    };
  }

  // Without what blocks tell, which would take memory for every node.
  static std::vector<SideFigures> MeansOf(const Side& side, size_t nodes) {
    return FiguresBy(side, OwnNode, nodes, MeansOfSteps);
  }

  static bool IsUnknown(const SideFigures& before, const SideFigures& after) {
    return (before.present() && !before.known()) || (after.present() && !after.known());
  }

  // Tells differences from chance, given how many rows there are.
  void Discover(double rate) {
    std::vector<double> p_values;
    for (const DifferenceRow& row : found_.rows) p_values.push_back(row.p_value.value_or(kUnknown));
    const std::vector<bool> found = FindAmongMany(p_values, rate);
    for (size_t row = 0; row < found.size(); ++row) found_.rows[row].found = found[row];
  }

  void Add(size_t at, const SideFigures& before, const SideFigures& after) {
    if (!before.present() && !after.present()) return;
    const NodeId node = node_of_row_[at];
    DifferenceRow row;
    row.path = NodePath(tree_, node);
    row.rest = is_rest_[at];
    row.level = tree_.nodes[node].level;
    row.in_before = in_before_[node];
    row.in_after = in_after_[node];
    if (before.known()) row.before = before.energy();
    if (after.known()) row.after = after.energy();
    if (!IsUnknown(before, after)) {
      row.difference = after.energy() - before.energy();
      const Spread spread = SpreadOfDifference(before, after, of_a_part_);
      const double error = std::sqrt(spread.variance);
      const double size = std::fabs(row.difference->value);
      row.noise = Joules{error > 0 ? error * StudentQuantile(0.05, spread.freedom) : 0};
      row.is_noise = size <= row.noise->value;
      row.p_value = error > 0 ? StudentTail(size / error, spread.freedom) : (size > 0 ? 0.0 : 1.0);
    }
    // The rest of a node is shown only if it changed.
    if (row.rest && row.difference == Joules{}) return;
    found_.rows.push_back(std::move(row));
  }

  const Side& before_;
  const Side& after_;
  const ModelTree& tree_;
  Circumstances of_a_part_;
  std::vector<bool> in_before_;
  std::vector<bool> in_after_;
  std::vector<NodeId> node_of_row_;
  std::vector<bool> is_rest_;
  std::function<RowsOfKind(const TraceTree&)> rows_of_;
  Differences found_;
};

}  // namespace

std::vector<SideFigures> FiguresOf(const Side& side,
                                   const std::function<RowsOfKind(const TraceTree&)>& rows,
                                   size_t count) {
  return FiguresBy(side, rows, count, [](const auto&... run) { return Figures(run...); });
}

Differences FindDifferences(const Side& before, const Side& after, const Circumstances& whole,
                            const DifferenceOptions& options) {
  return Finder(before, after, whole).Run(options);
}

}  // namespace beryl::analyze
