#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/analyze.h"
#include "analyze/profile.h"
#include "types/energy_by_step.h"

namespace beryl::analyze {
namespace {

constexpr size_t kMostShapes = 8;

enum class Devices { kApart, kSummed };

// The energy of a row from one channel in one step.
struct Part {
  size_t row = 0;
  uint32_t step = kNoStep;
  uint32_t channel = 0;
  double joules = 0;
  double seconds = 0;
};

// The name under which the operations of each kind are added up.
struct KindNames {
  struct Named {
    uint32_t name = 0;
    uint32_t layers = 1;  // added up in this name
  };
  StringTable names;
  std::vector<Named> of_kind;

  KindNames(const OpTrace& trace, const TraceTree& tree) {
    of_kind.reserve(trace.kinds.size());
    for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
      uint32_t layers = 1;
      for (NodeId node = tree.node_of_kind[kind]; node != 0; node = tree.tree[node].parent) {
        layers *= tree.tree[node].folded;
      }
      of_kind.push_back({names.Intern(OperationName(trace, tree, kind)), layers});
    }
  }
};

// Collects shares into rows.
class TableMaker {
 public:
  TableMaker(const OpTrace& trace, const Footprint& footprint, const KindNames& named,
             Devices devices)
      : trace_(trace),
        footprint_(footprint),
        named_(named),
        devices_(devices),
        step_count_(KnownSteps(footprint).size()),
        row_of_name_(named.names.size(), kNoRow),
        row_of_kind_(trace.kinds.size(), kNoRow) {
    parts_.reserve(footprint.shares.size());
    // A run may have a million names: growing step by step would touch twice the memory.
    rows_.reserve(named.names.size());
  }

  OperationTable Make() {
    for (const EnergyShare& share : footprint_.shares) {
      const size_t at = Row(share.kind, share.channel, footprint_.channels[share.channel].channel);
      OperationRow& row = rows_[at];
      row.count += share.count;
      unknown_[at] += share.unknown.seconds();
      if (!share.IsKnown()) continue;
      AddKnown(row.energy, share.energy);
      if (footprint_.channels[share.channel].origin == Origin::kEstimated) {
        row.origin = Origin::kEstimated;
      }
      if (footprint_.channels[share.channel].static_part) {
        AddKnown(row.static_part, share.static_part);
      }
      parts_.push_back({at, share.step, share.channel, share.energy.value, share.busy.seconds()});
    }
    for (const UnmeteredOps& ops : footprint_.unmetered) {
      const size_t at = Row(ops.kind, kUnmetered + ops.device, trace_.devices[ops.device]);
      rows_[at].time += ToSeconds(ops.busy);
      rows_[at].count += ops.count;
    }
    Finish();
    return std::move(rows_);
  }

 private:
  static constexpr uint32_t kUnmetered = 1U << 16;
  static constexpr uint32_t kNoRow = static_cast<uint32_t>(-1);

  // How rows are told apart, and the next row of the same name.
  struct Place {
    uint32_t channel;
    Phase phase;
    uint32_t next;
  };

  size_t Row(uint32_t kind, uint32_t channel, const std::string& device) {
    const OpKind& op = trace_.kinds[kind];
    const auto [name, layers] = named_.of_kind[kind];
    // Known and unknown energy do not add up: operations without a meter get a row of their own.
    const uint32_t place_of_channel = devices_ == Devices::kApart ? channel
                                      : channel >= kUnmetered     ? kUnmetered
                                                                  : 0;
    uint32_t at = row_of_name_[name];
    while (at != kNoRow &&
           (places_[at].channel != place_of_channel || places_[at].phase != op.phase)) {
      at = places_[at].next;
    }
    if (at == kNoRow) {
      at = static_cast<uint32_t>(rows_.size());
      places_.push_back({place_of_channel, op.phase, std::exchange(row_of_name_[name], at)});
      OperationRow row;
      row.name = named_.names.Text(name);
      row.device = device;
      row.type = trace_.strings.Text(op.type);
      row.phase = op.phase;
      row.layers = layers;
      rows_.push_back(std::move(row));
      unknown_.push_back(0);
      first_device_.push_back(channel);
    }
    OperationRow& row = rows_[at];
    row.layers = std::max(row.layers, layers);
    if (channel != first_device_[at] && more_devices_.insert({at, channel}).second) {
      row.device += ", " + device;
    }
    if (row_of_kind_[kind] == kNoRow || channel < kUnmetered) row_of_kind_[kind] = at;
    if (op.shapes != 0) {
      const std::string_view text = trace_.strings.Text(op.shapes);
      if (row.shapes.size() < kMostShapes &&
          std::find(row.shapes.begin(), row.shapes.end(), text) == row.shapes.end()) {
        row.shapes.emplace_back(text);
      }
    }
    return at;
  }

  void Finish() {
    std::stable_sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return std::tie(a.row, a.step) < std::tie(b.row, b.step);
    });
    for (size_t i = 0, part = 0; i < rows_.size(); ++i) {
      const size_t begin = part;
      while (part < parts_.size() && parts_[part].row == i) ++part;
      Measure(rows_[i], begin, part);
      if (!rows_[i].energy) rows_[i].time += Seconds{unknown_[i]};
    }
    if (devices_ == Devices::kSummed) CountRuns();
    parts_ = {};
    SortByEnergy();
  }

  // Stable; unknown comes last. Moves each row once.
  void SortByEnergy() {
    std::vector<uint32_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return rows_[a].energy > rows_[b].energy; });
    for (uint32_t start = 0; start < order.size(); ++start) {
      if (order[start] == start) continue;
      OperationRow first = std::move(rows_[start]);
      uint32_t to = start;
      for (uint32_t from = order[to]; from != start; from = order[to]) {
        rows_[to] = std::move(rows_[from]);
        order[to] = to;
        to = from;
      }
      rows_[to] = std::move(first);
      order[to] = to;
    }
  }

  // Computes time, power and the values per step from the parts of the row.
  void Measure(OperationRow& row, size_t begin, size_t end) {
    if (!row.energy) return;
    BusyByChannel busy;
    std::vector<double> step_joules;
    std::vector<double> step_watts;
    for (size_t i = begin; i < end;) {
      const uint32_t step = parts_[i].step;
      double joules = 0;
      BusyByChannel busy_in_step;
      for (; i < end && parts_[i].step == step; ++i) {
        joules += parts_[i].joules;
        busy_in_step[parts_[i].channel] += parts_[i].seconds;
        busy[parts_[i].channel] += parts_[i].seconds;
      }
      if (step == kNoStep) continue;
      step_joules.push_back(joules);
      const Seconds time = TimeAtWork(busy_in_step, footprint_);
      if (time > Seconds{}) step_watts.push_back(joules / time.value);
    }
    row.time = TimeAtWork(busy, footprint_);
    if (row.time > Seconds{}) row.power = *row.energy / row.time;
    if (step_count_ < 2) return;
    const StepStatistics spread = StepStatisticsOf(step_joules, step_count_);
    row.mean_step_energy = Joules{spread.Mean(step_count_)};
    row.deviation_step_energy = Joules{spread.Deviation(step_count_)};
    if (step_watts.size() < 2) return;
    row.deviation_step_power =
        Watts{StepStatisticsOf(step_watts, step_watts.size()).Deviation(step_watts.size())};
  }

  // A run that several channels feed counts once.
  void CountRuns() {
    const std::vector<uint64_t> runs = trace_.CountKinds();
    for (OperationRow& row : rows_) row.count = 0;
    for (size_t kind = 0; kind < runs.size(); ++kind) {
      if (row_of_kind_[kind] != kNoRow) rows_[row_of_kind_[kind]].count += runs[kind];
    }
  }

  const OpTrace& trace_;
  const Footprint& footprint_;
  const KindNames& named_;
  Devices devices_;
  size_t step_count_;
  OperationTable rows_;
  std::vector<Place> places_;          // by row
  std::vector<uint32_t> row_of_name_;  // the last one
  std::vector<Part> parts_;
  std::vector<double> unknown_;         // by row: seconds of operation with unknown power
  std::vector<uint32_t> first_device_;  // by row
  std::set<std::pair<uint32_t, uint32_t>> more_devices_;  // by row
  std::vector<uint32_t> row_of_kind_;
};

}  // namespace

OperationTable Operations(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree) {
  return TableMaker(trace, footprint, KindNames(trace, tree), Devices::kApart).Make();
}

OperationRanking Rank(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      const RankingOptions& options) {
  OperationRanking ranking;
  ranking.kind = options.kind;
  ranking.phase = options.phase;
  ranking.min_share = options.min_share;
  const bool by_power = options.kind == OperationRanking::Kind::kStpf;
  const KindNames named(trace, tree);
  auto make = [&](Devices devices) {
    OperationTable rows = TableMaker(trace, footprint, named, devices).Make();
    std::erase_if(rows, [&](const OperationRow& row) {
      return options.phase && row.phase != *options.phase;
    });
    return rows;
  };
  ranking.rows = make(Devices::kSummed);
  for (const OperationRow& row : ranking.rows) {
    AddKnown(ranking.total, row.energy);
  }
  std::erase_if(ranking.rows, [&](const OperationRow& row) {
    if (by_power && !row.power) return true;
    return options.min_share > 0 &&
           row.energy.value_or(Joules{}) < options.min_share * ranking.total.value_or(Joules{});
  });
  if (by_power) {
    // Rounds to a microwatt: names with the same power are ranked by energy, not by rounding
    // errors.
    auto watts = [](const OperationRow& row) { return std::round(row.power->value * 1e6); };
    std::stable_sort(
        ranking.rows.begin(), ranking.rows.end(),
        [&](const OperationRow& a, const OperationRow& b) { return watts(a) > watts(b); });
  }

  // The rows of a device follow their name.
  using Key = std::pair<std::string_view, Phase>;
  std::map<Key, size_t> place;
  for (size_t i = 0; i < ranking.rows.size(); ++i) {
    place.emplace(Key(ranking.rows[i].name, ranking.rows[i].phase), i);
  }
  ranking.by_device = make(Devices::kApart);
  std::erase_if(ranking.by_device, [&](const OperationRow& row) {
    return (by_power && !row.power) || !place.contains(Key(row.name, row.phase));
  });
  std::stable_sort(ranking.by_device.begin(), ranking.by_device.end(),
                   [&](const OperationRow& a, const OperationRow& b) {
                     return place.at(Key(a.name, a.phase)) < place.at(Key(b.name, b.phase));
                   });
  return ranking;
}

}  // namespace beryl::analyze
