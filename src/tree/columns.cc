#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "tree/tree.h"

namespace beryl::tree {
namespace {

constexpr size_t kMostShapes = 8;

void RollUp(const ModelTree& tree, const std::vector<double>& self, std::vector<double>& total) {
  total = self;
  for (size_t id = tree.nodes.size(); id-- > 1;) total[tree.nodes[id].parent] += total[id];
}

// Steps that a deviation is taken over: those of which any energy is known.
std::vector<uint32_t> StepsOf(const Footprint& footprint) {
  std::set<uint32_t> steps;
  for (const EnergyShare& share : footprint.shares) {
    if (share.step != kNoStep && share.IsKnown()) steps.insert(share.step);
  }
  return {steps.begin(), steps.end()};
}

// Mean and deviation over `steps` steps of values that are zero where not given.
struct Spread {
  double sum = 0;
  double squares_about_mean = 0;
  size_t given = 0;

  double Mean(size_t steps) const { return sum / static_cast<double>(steps); }
  double Deviation(size_t steps) const {
    const double mean = Mean(steps);
    const double absent = static_cast<double>(steps - given) * mean * mean;
    return std::sqrt((squares_about_mean + absent) / static_cast<double>(steps - 1));
  }
};

// The deviation over steps of every node's total.
std::vector<double> Deviations(const Footprint& footprint, const TraceTree& built,
                               size_t step_count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < footprint.shares.size(); ++i) {
    const EnergyShare& share = footprint.shares[i];
    if (share.step != kNoStep && share.IsKnown()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return footprint.shares[a].step < footprint.shares[b].step;
  });
  const size_t nodes = built.tree.nodes.size();
  std::vector<Spread> spreads(nodes);
  std::vector<double> value(nodes, 0);
  std::vector<bool> touched(nodes, false);
  std::vector<NodeId> list;
  // Two turns: the means have to be known before distances from them can be added up.
  for (const bool second : {false, true}) {
    for (size_t i = 0; i < order.size();) {
      const uint32_t step = footprint.shares[order[i]].step;
      for (; i < order.size() && footprint.shares[order[i]].step == step; ++i) {
        const EnergyShare& share = footprint.shares[order[i]];
        for (NodeId node = built.node_of_kind[share.kind];; node = built.tree.nodes[node].parent) {
          if (!touched[node]) list.push_back(node);
          touched[node] = true;
          value[node] += share.energy.value;
          if (node == 0) break;
        }
      }
      for (const NodeId node : list) {
        Spread& spread = spreads[node];
        if (second) {
          const double distance = value[node] - spread.Mean(step_count);
          spread.squares_about_mean += distance * distance;
        } else {
          spread.sum += value[node];
          ++spread.given;
        }
        value[node] = 0;
        touched[node] = false;
      }
      list.clear();
    }
  }
  std::vector<double> deviations;
  deviations.reserve(nodes);
  for (const Spread& spread : spreads) deviations.push_back(spread.Deviation(step_count));
  return deviations;
}

// Where all operations that a column `counts` are without a meter: unknown is not zero.
template <typename Counts>
void MarkUnknown(const Footprint& footprint, const TraceTree& built, EnergyColumn& column,
                 Counts&& counts) {
  std::vector<double> metered(built.tree.nodes.size(), 0);
  std::vector<double> unmetered(built.tree.nodes.size(), 0);
  for (const EnergyShare& share : footprint.shares) {
    if (!counts(share.kind)) continue;
    (share.IsKnown() ? metered : unmetered)[built.node_of_kind[share.kind]] = 1;
  }
  for (const UnmeteredOps& ops : footprint.unmetered) {
    if (counts(ops.kind)) unmetered[built.node_of_kind[ops.kind]] = 1;
  }
  auto mark = [&](std::vector<double>& energy) {
    for (size_t node = 0; node < energy.size(); ++node) {
      if (unmetered[node] > 0 && metered[node] == 0) {
        energy[node] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  };
  mark(column.self);
  RollUp(built.tree, std::vector<double>(metered), metered);
  RollUp(built.tree, std::vector<double>(unmetered), unmetered);
  mark(column.total);
}

// Collects shares into rows; `name` is called once a kind.
class TableMaker {
 public:
  TableMaker(const OpTrace& trace, const Footprint& footprint)
      : trace_(trace), footprint_(footprint), step_count_(StepsOf(footprint).size()) {}

  template <typename NameOf>
  OperationTable Make(NameOf&& name_of) {
    struct Named {
      uint32_t name = 0;
      uint32_t layers = 1;
    };
    std::vector<Named> named;
    named.reserve(trace_.kinds.size());
    for (uint32_t kind = 0; kind < trace_.kinds.size(); ++kind) {
      auto [text, layers] = name_of(kind);
      named.push_back({names_.Intern(text), layers});
    }
    for (const EnergyShare& share : footprint_.shares) {
      const size_t at = Row(share.kind, named[share.kind].name, share.channel,
                            footprint_.channels[share.channel].channel, named[share.kind].layers);
      OperationRow& row = rows_[at];
      row.count += share.count;
      unknown_[at] += share.unknown.seconds();
      if (!share.IsKnown()) continue;
      row.energy_j = row.energy_j.value_or(0) + share.energy.value;
      if (footprint_.channels[share.channel].static_part) {
        row.static_j = row.static_j.value_or(0) + share.static_part.value;
      }
      row.seconds += share.busy.seconds();
      if (share.step != kNoStep) steps_[at][share.step] += share.energy.value;
    }
    constexpr uint32_t kUnmetered = 1U << 16;
    for (const UnmeteredOps& ops : footprint_.unmetered) {
      OperationRow& row = rows_[Row(ops.kind, named[ops.kind].name, kUnmetered + ops.device,
                                    trace_.devices[ops.device], named[ops.kind].layers)];
      row.seconds += ops.busy.seconds();
      row.count += ops.count;
    }
    Finish();
    return std::move(rows_);
  }

 private:
  size_t Row(uint32_t kind, uint32_t name, uint32_t channel, const std::string& device,
             uint32_t layers) {
    const OpKind& op = trace_.kinds[kind];
    const auto [place, is_new] =
        row_of_.try_emplace(std::tuple(name, channel, static_cast<int>(op.phase)), rows_.size());
    if (is_new) {
      OperationRow row;
      row.name = names_.Text(name);
      row.device = device;
      row.type = trace_.strings.Text(op.type);
      row.phase = op.phase;
      row.layers = layers;
      rows_.push_back(std::move(row));
      steps_.emplace_back();
      unknown_.push_back(0);
    }
    if (op.shapes != 0) {
      auto& shapes = rows_[place->second].shapes;
      const std::string_view text = trace_.strings.Text(op.shapes);
      if (shapes.size() < kMostShapes &&
          std::find(shapes.begin(), shapes.end(), text) == shapes.end()) {
        shapes.emplace_back(text);
      }
    }
    return place->second;
  }

  void Finish() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      OperationRow& row = rows_[i];
      if (!row.energy_j) row.seconds += unknown_[i];
      if (row.energy_j && row.seconds > 0) row.power_w = *row.energy_j / row.seconds;
      if (!row.energy_j || step_count_ < 2) continue;
      Spread spread;
      for (const auto& [step, energy] : steps_[i]) spread.sum += energy;
      spread.given = steps_[i].size();
      for (const auto& [step, energy] : steps_[i]) {
        const double distance = energy - spread.Mean(step_count_);
        spread.squares_about_mean += distance * distance;
      }
      row.mean_step_j = spread.Mean(step_count_);
      row.deviation_step_j = spread.Deviation(step_count_);
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const OperationRow& a, const OperationRow& b) {
      return a.energy_j.value_or(-1) > b.energy_j.value_or(-1);
    });
  }

  const OpTrace& trace_;
  const Footprint& footprint_;
  size_t step_count_;
  StringTable names_;
  std::map<std::tuple<uint32_t, uint32_t, int>, size_t> row_of_;
  OperationTable rows_;
  std::vector<std::map<uint32_t, double>> steps_;
  std::vector<double> unknown_;  // seconds at work where power was not known
};

}  // namespace

std::vector<EnergyColumn> Columns(const OpTrace& trace, const Footprint& footprint,
                                  const TraceTree& built) {
  const size_t nodes = built.tree.nodes.size();
  std::vector<EnergyColumn> columns;
  auto add = [&](EnergyColumn::Of of, std::string label, auto&& wanted) {
    EnergyColumn column;
    column.of = of;
    column.label = std::move(label);
    column.origin = "measured";
    column.self.assign(nodes, 0);
    bool any = false;
    for (const EnergyShare& share : footprint.shares) {
      if (!wanted(share)) continue;
      any = true;
      column.self[built.node_of_kind[share.kind]] += share.energy.value;
    }
    if (!any && !columns.empty()) return;
    RollUp(built.tree, column.self, column.total);
    columns.push_back(std::move(column));
  };
  add(EnergyColumn::Of::kAll, "total", [](const EnergyShare&) { return true; });
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    add(EnergyColumn::Of::kPhase, std::string(PhaseName(phase)),
        [&](const EnergyShare& share) { return trace.kinds[share.kind].phase == phase; });
  }
  for (size_t channel = 0; channel < footprint.channels.size(); ++channel) {
    add(EnergyColumn::Of::kChannel, footprint.channels[channel].channel,
        [&](const EnergyShare& share) { return share.channel == channel; });
  }
  for (size_t rank = 0; trace.ranks.size() > 1 && rank < trace.ranks.size(); ++rank) {
    add(EnergyColumn::Of::kRank, trace.ranks[rank],
        [&](const EnergyShare& share) { return trace.kinds[share.kind].rank == rank; });
  }
  const size_t step_count = StepsOf(footprint).size();
  if (step_count >= 2) columns.front().deviation = Deviations(footprint, built, step_count);

  MarkUnknown(footprint, built, columns.front(), [](uint32_t) { return true; });
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    for (EnergyColumn& column : columns) {
      if (column.of != EnergyColumn::Of::kPhase || column.label != PhaseName(phase)) continue;
      MarkUnknown(footprint, built, column,
                  [&](uint32_t kind) { return trace.kinds[kind].phase == phase; });
    }
  }
  for (EnergyColumn& column : columns) {
    if (column.of != EnergyColumn::Of::kRank) continue;
    MarkUnknown(footprint, built, column,
                [&](uint32_t kind) { return trace.ranks[trace.kinds[kind].rank] == column.label; });
  }
  return columns;
}

OperationTable Operations(const OpTrace& trace, const Footprint& footprint) {
  return TableMaker(trace, footprint).Make([&](uint32_t kind) {
    return std::pair(trace.QualifiedName(trace.kinds[kind]), uint32_t{1});
  });
}

OperationTable Summarize(const OpTrace& trace, const Footprint& footprint,
                         const TraceTree& folded) {
  return TableMaker(trace, footprint).Make([&](uint32_t kind) {
    std::vector<NodeId> scopes;
    uint32_t layers = 1;
    for (NodeId node = folded.node_of_kind[kind]; node != 0;) {
      layers *= folded.tree.nodes[node].folded;
      node = folded.tree.nodes[node].parent;
      if (folded.in_names[node]) scopes.push_back(node);
    }
    std::string name;
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
      name += folded.tree.nodes[*scope].name;
      name += '/';
    }
    name += trace.strings.Text(trace.kinds[kind].op);
    return std::pair(std::move(name), layers);
  });
}

}  // namespace beryl::tree
