#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "tree/profile.h"
#include "tree/seen_shapes.h"
#include "tree/statistics.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

constexpr size_t kMostShapes = 8;

enum class Devices { kApart, kSummed };

// What a row took from one channel in one step.
struct Part {
  size_t row = 0;
  uint32_t step = kNoStep;
  uint32_t channel = 0;
  double joules = 0;
  double seconds = 0;
};

// Seconds at work by channel; how long that is in all.
using Busy = std::map<uint32_t, double>;
Seconds TimeOf(const Busy& busy, const Footprint& footprint) {
  if (busy.size() == 1) return {busy.begin()->second};
  // Several meters of the same devices saw the same runs. Of meters whose devices overlap, the one
  // of more devices saw what the others did.
  std::map<std::vector<uint16_t>, double> by_devices;
  for (const auto& [channel, seconds] : busy) {
    double& longest = by_devices[footprint.channels[channel].fed_devices];
    longest = std::max(longest, seconds);
  }
  std::vector<std::pair<std::vector<uint16_t>, double>> groups(by_devices.begin(),
                                                               by_devices.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::set<uint16_t> seen;
  Seconds time;
  for (const auto& [devices, seconds] : groups) {
    const bool overlaps = std::any_of(devices.begin(), devices.end(),
                                      [&](uint16_t device) { return seen.contains(device); });
    if (overlaps) continue;
    seen.insert(devices.begin(), devices.end());
    time += Seconds{seconds};
  }
  return time;
}

// Collects shares into rows.
class TableMaker {
 public:
  TableMaker(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
             Devices devices)
      : trace_(trace),
        footprint_(footprint),
        devices_(devices),
        step_count_(KnownSteps(footprint).size()),
        row_of_kind_(trace.kinds.size(), kNoRow) {
    for (uint32_t kind = 0; kind < trace.kinds.size(); ++kind) {
      uint32_t layers = 1;
      for (NodeId node = tree.node_of_kind[kind]; node != 0; node = tree.tree[node].parent) {
        layers *= tree.tree[node].folded;
      }
      named_.push_back({names_.Intern(OperationName(trace, tree, kind)), layers});
    }
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
  static constexpr size_t kNoRow = static_cast<size_t>(-1);

  // What operations of a kind are added up under.
  struct Named {
    uint32_t name = 0;
    uint32_t layers = 1;  // added up in it
  };

  size_t Row(uint32_t kind, uint32_t channel, const std::string& device) {
    const OpKind& op = trace_.kinds[kind];
    const auto [name, layers] = named_[kind];
    // Known energy and unknown do not add up: what has no meter stays a row of its own.
    const uint32_t place_of_channel = devices_ == Devices::kApart ? channel
                                      : channel >= kUnmetered     ? kUnmetered
                                                                  : 0;
    const auto [place, is_new] = row_of_.try_emplace(
        std::tuple(name, place_of_channel, static_cast<int>(op.phase)), rows_.size());
    if (is_new) {
      OperationRow row;
      row.name = names_.Text(name);
      row.device = device;
      row.type = trace_.strings.Text(op.type);
      row.phase = op.phase;
      row.layers = layers;
      rows_.push_back(std::move(row));
      unknown_.push_back(0);
      row_devices_.push_back({channel});
    }
    OperationRow& row = rows_[place->second];
    row.layers = std::max(row.layers, layers);
    if (auto& known = row_devices_[place->second];
        std::find(known.begin(), known.end(), channel) == known.end()) {
      known.push_back(channel);
      row.device += ", " + device;
    }
    if (row_of_kind_[kind] == kNoRow || channel < kUnmetered) row_of_kind_[kind] = place->second;
    if (op.shapes != 0) {
      const std::string_view text = trace_.strings.Text(op.shapes);
      if (row.shapes.size() < kMostShapes &&
          std::find(row.shapes.begin(), row.shapes.end(), text) == row.shapes.end()) {
        row.shapes.emplace_back(text);
      }
    }
    return place->second;
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
    std::stable_sort(rows_.begin(), rows_.end(), [](const OperationRow& a, const OperationRow& b) {
      return a.energy > b.energy;  // what is not known comes last
    });
  }

  // Time, power and what they and the energy are a step, from the row's parts.
  void Measure(OperationRow& row, size_t begin, size_t end) {
    if (!row.energy) return;
    Busy busy;
    std::vector<double> step_joules;
    std::vector<double> step_watts;
    for (size_t i = begin; i < end;) {
      const uint32_t step = parts_[i].step;
      double joules = 0;
      Busy busy_in_step;
      for (; i < end && parts_[i].step == step; ++i) {
        joules += parts_[i].joules;
        busy_in_step[parts_[i].channel] += parts_[i].seconds;
        busy[parts_[i].channel] += parts_[i].seconds;
      }
      if (step == kNoStep) continue;
      step_joules.push_back(joules);
      const Seconds time = TimeOf(busy_in_step, footprint_);
      if (time > Seconds{}) step_watts.push_back(joules / time.value);
    }
    row.time = TimeOf(busy, footprint_);
    if (row.time > Seconds{}) row.power = *row.energy / row.time;
    if (step_count_ < 2) return;
    const Spread spread = SpreadOf(step_joules, step_count_);
    row.mean_step_energy = Joules{spread.Mean(step_count_)};
    row.deviation_step_energy = Joules{spread.Deviation(step_count_)};
    if (step_watts.size() < 2) return;
    row.deviation_step_power =
        Watts{SpreadOf(step_watts, step_watts.size()).Deviation(step_watts.size())};
  }

  // A run that several channels feed is still one run.
  void CountRuns() {
    const std::vector<uint64_t> runs = CountKinds(trace_);
    for (OperationRow& row : rows_) row.count = 0;
    for (size_t kind = 0; kind < runs.size(); ++kind) {
      if (row_of_kind_[kind] != kNoRow) rows_[row_of_kind_[kind]].count += runs[kind];
    }
  }

  const OpTrace& trace_;
  const Footprint& footprint_;
  Devices devices_;
  size_t step_count_;
  StringTable names_;
  std::vector<Named> named_;  // by kind
  std::map<std::tuple<uint32_t, uint32_t, int>, size_t> row_of_;
  OperationTable rows_;
  std::vector<Part> parts_;
  std::vector<double> unknown_;  // by row: seconds at work where power was not known
  std::vector<std::vector<uint32_t>> row_devices_;
  std::vector<size_t> row_of_kind_;
};

}  // namespace

std::vector<double> SelfSeconds(const Footprint& footprint, const TraceTree& built) {
  std::map<NodeId, Busy> busy;
  for (const EnergyShare& share : footprint.shares) {
    busy[built.node_of_kind[share.kind]][share.channel] += share.busy.seconds();
  }
  std::vector<double> seconds(built.tree.nodes.size(), 0);
  for (const auto& [node, channels] : busy) seconds[node] = TimeOf(channels, footprint).value;
  return seconds;
}

OperationTable Operations(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree) {
  return TableMaker(trace, footprint, tree, Devices::kApart).Make();
}

OperationRanking Rank(const OpTrace& trace, const Footprint& footprint, const TraceTree& tree,
                      const RankingOptions& options) {
  OperationRanking ranking;
  ranking.kind = options.kind;
  ranking.phase = options.phase;
  ranking.min_share = options.min_share;
  const bool by_power = options.kind == OperationRanking::Kind::kStpf;
  auto make = [&](Devices devices) {
    OperationTable rows = TableMaker(trace, footprint, tree, devices).Make();
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
    // To the microwatt: names that ran at the same power are ranked by energy, not by dust.
    auto watts = [](const OperationRow& row) { return std::round(row.power->value * 1e6); };
    std::stable_sort(
        ranking.rows.begin(), ranking.rows.end(),
        [&](const OperationRow& a, const OperationRow& b) { return watts(a) > watts(b); });
  }

  // Rows of a device go where the name is.
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

}  // namespace beryl::tree
