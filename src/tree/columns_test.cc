#include <cmath>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/matchers_for_test.h"
#include "tree/tree_testing.h"

namespace beryl::tree {
namespace {

const Column* ColumnOf(const std::vector<Column>& columns, std::string_view label) {
  for (const Column& column : columns) {
    if (column.label == label) return &column;
  }
  return nullptr;
}

// A random model with everything that matters to columns and tables.
TraceMaker RandomRun(std::mt19937_64& random) {
  TraceMaker maker;
  const uint64_t steps = random() % 4;
  for (int i = 0; i < 40; ++i) {
    std::string path;
    for (uint64_t depth = random() % 4; depth > 0; --depth) {
      path += fmt::format("{}_{}/", random() % 2 == 0 ? "layer" : "block", random() % 3);
    }
    path += std::vector<std::string>{"MatMul", "MatMul_1", "Add", "layer_1"}[random() % 4];
    const uint32_t kind = maker.Kind(path, static_cast<Phase>(random() % 3));
    if (random() % 6 == 0) {
      maker.Unmetered(kind, fmt::format("GPU:{}", random() % 2),
                      static_cast<int64_t>(random() % 1000), 1 + random() % 3);
      continue;
    }
    for (const char* channel : {"CPU:0", "DRAM:0", "GPU:0"}) {
      if (random() % 3 == 0) continue;
      maker.Share(kind, static_cast<double>(random() % 1000), channel,
                  steps == 0 ? kNoStep : static_cast<uint32_t>(random() % steps),
                  static_cast<int64_t>(random() % 1000), 1 + random() % 5);
    }
  }
  return maker;
}

TEST(ColumnsTest, TotalFirstThenPhasesThatOccurThenChannels) {
  TraceMaker maker;
  maker.Share(maker.Kind("a/A"), 1, "CPU:0");
  maker.Share(maker.Kind("a/B", Phase::kOptimizer), 2, "GPU:0");
  maker.Channel("wall");
  std::vector<std::string> labels;
  for (const Column& column : Columns(maker.trace(), maker.footprint(), Build(maker.trace()))) {
    labels.push_back(column.label);
  }
  EXPECT_THAT(labels, ElementsAre("energy", "forward", "optimizer", "CPU:0", "GPU:0"));
}

TEST(ColumnsTest, SumsHoldOnRandomTrees) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    TraceMaker maker = RandomRun(random);
    const TraceTree built = Build(maker.trace());
    const auto columns = Columns(maker.trace(), maker.footprint(), built);
    const auto& nodes = built.tree.nodes;
    auto known = [](double value) { return std::isnan(value) ? 0 : value; };
    for (const Column& column : columns) {
      for (NodeId id = 0; id < nodes.size(); ++id) {
        double below = 0;
        for (NodeId inner = id; inner < nodes[id].end; ++inner) below += known(column.self[inner]);
        EXPECT_DOUBLE_EQ(known(column.total[id]), below);
      }
    }
    for (NodeId id = 0; id < nodes.size(); ++id) {
      double phases = 0;
      double channels = 0;
      for (const Column& column : columns) {
        const bool phase =
            column.label == "forward" || column.label == "backward" || column.label == "optimizer";
        if (column.label != "energy") (phase ? phases : channels) += known(column.total[id]);
      }
      EXPECT_DOUBLE_EQ(phases, known(columns[0].total[id]));
      EXPECT_DOUBLE_EQ(channels, known(columns[0].total[id]));
    }
    double attributed = 0;
    for (const ChannelAccount& account : maker.footprint().channels) {
      attributed += account.attributed.value;
    }
    EXPECT_DOUBLE_EQ(known(columns[0].total[0]), attributed);
  }
}

TEST(ColumnsTest, AnEstimateIsCalledOne) {
  TraceMaker maker;
  const uint32_t guessed = maker.Kind("m/guessed");
  const uint32_t measured = maker.Kind("m/measured");
  maker.Share(guessed, 1, "CPU:0");
  maker.Share(measured, 2, "GPU:0");
  maker.footprint().channels[0].origin = Origin::kEstimated;
  const TraceTree built = Build(maker.trace());
  for (const Column& column : Columns(maker.trace(), maker.footprint(), built)) {
    EXPECT_EQ(column.origin, column.label == "GPU:0" ? Origin::kMeasured : Origin::kEstimated)
        << column.label;
  }
  const Column all = Columns(maker.trace(), maker.footprint(), built).front();
  EXPECT_TRUE(all.estimated[0]);
  EXPECT_TRUE(all.estimated[*FindPath(built, "m/guessed")]);
  EXPECT_FALSE(all.estimated[*FindPath(built, "m/measured")]);
  for (const OperationRow& row :
       analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()))) {
    EXPECT_EQ(row.origin, row.device == "CPU:0" ? Origin::kEstimated : Origin::kMeasured);
  }
}

TEST(ColumnsTest, NotANumberExactlyWhereNothingIsMetered) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 200; ++round) {
    TraceMaker maker = RandomRun(random);
    const TraceTree built = Build(maker.trace());
    const auto columns = Columns(maker.trace(), maker.footprint(), built);
    for (const Column& column : columns) {
      const bool is_channel = column.label.find(':') != std::string::npos;
      for (NodeId id = 0; id < built.tree.nodes.size(); ++id) {
        auto counts = [&](uint32_t kind) {
          return column.label == "energy" ||
                 column.label == PhaseName(maker.trace().kinds[kind].phase);
        };
        auto any = [&](const auto& list, NodeId from, NodeId to) {
          return std::any_of(list.begin(), list.end(), [&](const auto& each) {
            const NodeId node = built.node_of_kind[each.kind];
            return counts(each.kind) && node >= from && node < to;
          });
        };
        auto unknown = [&](NodeId to) {
          return !is_channel && any(maker.footprint().unmetered, id, to) &&
                 !any(maker.footprint().shares, id, to);
        };
        EXPECT_EQ(std::isnan(column.self[id]), unknown(id + 1)) << column.label;
        EXPECT_EQ(std::isnan(column.total[id]), unknown(built.tree.nodes[id].end)) << column.label;
      }
    }
  }
}

TEST(ColumnsTest, AnUnmeteredPhaseIsUnknownAndNotZero) {
  TraceMaker maker;
  maker.Share(maker.Kind("host/A"), 1);
  maker.Unmetered(maker.Kind("device/B"), "GPU:0");
  const TraceTree built = Build(maker.trace());
  const auto columns = Columns(maker.trace(), maker.footprint(), built);
  const NodeId device = *FindPath(built, "device");
  EXPECT_THAT(columns[0].total[device], IsNan());
  EXPECT_THAT(ColumnOf(columns, "forward")->total[device], IsNan());
  EXPECT_EQ(ColumnOf(columns, "CPU:0")->total[device], 0);
}

// Operations that ran while the meter was not read.
TEST(ColumnsTest, WhatRanWherePowerWasNotKnownIsUnknownAndItsStepDoesNotCount) {
  TraceMaker maker;
  maker.Share(maker.Kind("a/A"), 3);
  maker.Share(maker.Kind("b/B"), 0);
  Footprint footprint = maker.footprint();
  ASSERT_EQ(footprint.shares.size(), 2U);
  footprint.shares[0].step = 0;
  footprint.shares[0].busy = Nanos{10};
  footprint.shares[1].step = 1;
  footprint.shares[1].busy = Nanos{};
  footprint.shares[1].unknown = Nanos{10};
  const TraceTree built = Build(maker.trace());
  const auto columns = Columns(maker.trace(), footprint, built);
  EXPECT_EQ(columns[0].total[*FindPath(built, "a")], 3);
  EXPECT_THAT(columns[0].total[*FindPath(built, "b")], IsNan());
  EXPECT_THAT(columns[0].deviation, IsEmpty()) << "one step with known energy has no deviation";
  const OperationTable table = analyze::Operations(maker.trace(), footprint, Build(maker.trace()));
  EXPECT_EQ(table.at(0).energy, Joules{3});
  EXPECT_EQ(table.at(1).energy, std::nullopt);
}

TEST(ColumnsTest, DeviationOverStepsIsTheNaiveOne) {
  std::mt19937_64 random(13);
  int with_deviation = 0;
  for (int round = 0; round < 200; ++round) {
    TraceMaker maker = RandomRun(random);
    const TraceTree built = Build(maker.trace());
    const auto columns = Columns(maker.trace(), maker.footprint(), built);
    std::map<uint32_t, std::vector<double>> by_step;
    for (const EnergyShare& share : maker.footprint().shares) {
      if (share.step == kNoStep) continue;
      auto& energy = by_step[share.step];
      energy.resize(built.tree.nodes.size(), 0);
      for (NodeId id = 0; id < built.tree.nodes.size(); ++id) {
        const NodeId at = built.node_of_kind[share.kind];
        if (at >= id && at < built.tree.nodes[id].end) energy[id] += share.energy.value;
      }
    }
    if (by_step.size() < 2) {
      EXPECT_TRUE(columns[0].deviation.empty());
      continue;
    }
    ++with_deviation;
    ASSERT_EQ(columns[0].deviation.size(), built.tree.nodes.size());
    const auto count = static_cast<double>(by_step.size());
    for (NodeId id = 0; id < built.tree.nodes.size(); ++id) {
      double mean = 0;
      for (const auto& [step, energy] : by_step) mean += energy[id] / count;
      double squares = 0;
      for (const auto& [step, energy] : by_step)
        squares += (energy[id] - mean) * (energy[id] - mean);
      EXPECT_NEAR(columns[0].deviation[id], std::sqrt(squares / (count - 1)), 1e-9);
    }
  }
  EXPECT_GT(with_deviation, 50);
}

TEST(OperationsTest, ARowForEachNamePhaseAndChannel) {
  TraceMaker maker;
  const uint32_t forward = maker.Kind("a/MatMul");
  const uint32_t backward = maker.Kind("a/MatMul", Phase::kBackward);
  maker.Share(forward, 6, "CPU:0", 0, 2'000'000'000, 3);
  maker.Share(forward, 2, "CPU:0", 1, 2'000'000'000, 1);
  maker.Share(forward, 1, "DRAM:0");
  maker.Share(backward, 5);
  const OperationTable table =
      analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()));
  ASSERT_EQ(table.size(), 3U);
  EXPECT_EQ(table[0].name, "a/MatMul");
  EXPECT_EQ(table[0].device, "CPU:0");
  EXPECT_EQ(table[0].type, "type of MatMul");
  EXPECT_EQ(table[0].phase, Phase::kForward);
  EXPECT_EQ(table[0].energy, Joules{8});
  EXPECT_EQ(table[0].time, Seconds{4});
  EXPECT_EQ(table[0].power, Watts{2});
  EXPECT_EQ(table[0].count, 4U);
  EXPECT_EQ(table[0].mean_step_energy, Joules{4});
  EXPECT_NEAR(ValueOrNan(table[0].deviation_step_energy), std::sqrt(8.0), 1e-12);
  EXPECT_EQ(table[1].phase, Phase::kBackward);
  EXPECT_EQ(table[2].device, "DRAM:0");
}

TEST(OperationsTest, UnmeteredRowsHaveTimeAndNoEnergy) {
  TraceMaker maker;
  const uint32_t kind = maker.Kind("a/MatMul");
  maker.Share(kind, 0);
  maker.Unmetered(kind, "GPU:0", 5'000'000'000, 7);
  const OperationTable table =
      analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table[0].energy, Joules{0}) << "nothing taken is known, and sorts before what is not";
  EXPECT_EQ(table[1].device, "GPU:0");
  EXPECT_FALSE(table[1].energy.has_value());
  EXPECT_FALSE(table[1].power.has_value());
  EXPECT_FALSE(table[1].static_part.has_value());
  EXPECT_EQ(table[1].time, Seconds{5});
  EXPECT_EQ(table[1].count, 7U);
}

TEST(OperationsTest, ZeroSecondsHaveNoPower) {
  TraceMaker maker;
  maker.Share(maker.Kind("Z"), 0, "CPU:0", kNoStep, 0);
  EXPECT_FALSE(analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()))[0]
                   .power.has_value());
}

TEST(OperationsTest, StaticPartsAreThereOnlyWhereAChannelIsSplit) {
  TraceMaker maker;
  const uint32_t kind = maker.Kind("A");
  maker.Share(kind, 5, "CPU:0");
  maker.Share(kind, 4, "DRAM:0");
  maker.footprint().shares[0].static_part = Joules{2};
  maker.footprint().channels[0].static_part = Joules{2};
  const OperationTable table =
      analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()));
  EXPECT_EQ(table[0].static_part, Joules{2});
  EXPECT_FALSE(table[1].static_part.has_value());
}

// What both tables have to say of every device and phase.
struct Sums {
  double energy = 0;
  double seconds = 0;
  uint64_t count = 0;
};
std::map<std::pair<std::string, Phase>, Sums> SumUp(const OperationTable& table) {
  std::map<std::pair<std::string, Phase>, Sums> sums;
  for (const OperationRow& row : table) {
    Sums& sum = sums[{row.device + (row.energy ? "" : " unmetered"), row.phase}];
    sum.energy += row.energy.value_or(Joules{}).value;
    sum.seconds += row.time.value;
    sum.count += row.count;
  }
  return sums;
}

TEST(OperationsTest, EnergySumsToAttributedAndFoldingConservesEverything) {
  std::mt19937_64 random(14);
  for (int round = 0; round < 300; ++round) {
    TraceMaker maker = RandomRun(random);
    const OperationTable table =
        analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()));
    for (const ChannelAccount& account : maker.footprint().channels) {
      double sum = 0;
      for (const OperationRow& row : table) {
        if (row.device == account.channel) sum += row.energy.value_or(Joules{}).value;
      }
      EXPECT_DOUBLE_EQ(sum, account.attributed.value);
    }
    for (size_t i = 1; i < table.size(); ++i) {
      EXPECT_GE(table[i - 1].energy, table[i].energy);
    }
    for (const OperationRow& row : table) {
      if (row.power) {
        EXPECT_DOUBLE_EQ(row.power->value, (*row.energy / row.time).value);
      }
    }
    const TraceTree folded = Fold(Build(maker.trace()));
    const auto all = SumUp(table);
    const auto summary = SumUp(analyze::Operations(maker.trace(), maker.footprint(), folded));
    ASSERT_EQ(all.size(), summary.size());
    for (const auto& [key, sums] : all) {
      const Sums& same = summary.at(key);
      EXPECT_DOUBLE_EQ(sums.energy, same.energy);
      EXPECT_NEAR(sums.seconds, same.seconds, 1e-15);
      EXPECT_EQ(sums.count, same.count);
    }
  }
}

TEST(OperationsTest, ATreeThatIsNotFoldedGivesQualifiedNames) {
  std::mt19937_64 random(15);
  TraceMaker maker = RandomRun(random);
  std::set<std::string> names;
  for (const OpKind& kind : maker.trace().kinds) names.insert(maker.trace().QualifiedName(kind));
  for (const OperationRow& row :
       analyze::Operations(maker.trace(), maker.footprint(), Build(maker.trace()))) {
    EXPECT_TRUE(names.contains(row.name)) << row.name;
    EXPECT_EQ(row.layers, 1U);
  }
}

}  // namespace
}  // namespace beryl::tree
