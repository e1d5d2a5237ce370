// A report with everything in it that a view has to cope with, for the tests of this room.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "types/account_report.h"

namespace beryl::views {

// Names that somebody else chose.
inline const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> kNames = {
      "layer_*",
      "<script>alert(1)</script>",
      "a\"b'c&d]]><!--",
      "\xF0\x9F\x94\xA5\xE6\xBC\xA2\xD7\xA9\xE2\x80\xAE",
      std::string("nul") + '\0' + "\x1b[31m\x7f\xFF\xED\xA0\x80",
      std::string(10'000, 'W'),
      ";;; \n semi;colon",
      ""};
  return kNames;
}

inline TreeColumns MakeTree(const std::string& name) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  TreeColumns tree;
  auto add = [&](NodeId parent, NodeId end, Level level, const std::string& node_name) {
    TreeNode node;
    node.parent = parent;
    node.end = end;
    node.level = level;
    node.name = node_name;
    const bool root = tree.tree.nodes.empty();
    node.depth = root ? uint16_t{0} : static_cast<uint16_t>(tree.tree.nodes[parent].depth + 1);
    tree.tree.nodes.push_back(std::move(node));
  };
  add(0, 5, Level::kModel, "model");
  add(0, 3, Level::kModule, name);
  add(1, 3, Level::kMath, "MatMul");
  add(0, 5, Level::kModule, "unmetered");
  add(3, 5, Level::kMath, "Conv2D");
  tree.tree.nodes[1].folded = 12;
  tree.tree.nodes[1].folded_range = "0-11";
  Column total;
  total.name = total.label = "energy";
  total.key = "energy_j";
  total.self = {0, 0, 4, 0, kUnknown};
  total.total = {4, 4, 4, kUnknown, kUnknown};
  total.deviation = {0.5, 0.5, 0.5, 0, 0};
  Column forward = total;
  forward.name = forward.label = "forward";
  forward.of = Column::Of::kPhase;
  forward.deviation.clear();
  Column cpu = forward;
  cpu.name = cpu.label = "CPU:0";
  cpu.of = Column::Of::kChannel;
  cpu.self[4] = cpu.total[3] = cpu.total[4] = 0;
  tree.columns = {total, forward, cpu, ShareOf(total, "share")};
  return tree;
}

// `name` stands wherever a report takes a name from somebody else's program.
inline AccountReport MakeReport(const std::string& name = "layer_*") {
  AccountReport report;
  report.provenance = {"beryl",          "test", "Debug",      "a box",
                       {"/tmp/" + name}, "",     std::nullopt, "2026-11-18T01:32:48Z"};
  report.context.ops_files = {"/tmp/" + name, "second"};
  report.context.power_files = {name};
  report.context.label = "synthetic";
  report.context.energy_source = "measured: " + name + " from power.csv";
  report.clock_offset = Nanos{1'500};
  report.clock_reason = "as given";
  report.steps = 3;
  ChannelAccount cpu;
  cpu.channel = "CPU:0";
  cpu.policy = "hold";
  cpu.feeds = "operations on CPU:0 (the host)";
  cpu.total = cpu.measured = Joules{10};
  cpu.attributed = Joules{4};
  cpu.idle = Joules{6};
  cpu.outside_trace = Joules{1};
  cpu.static_part = Joules{2};
  cpu.window_end = Nanos{2'000'000'000};
  cpu.readings = 2000;
  ChannelAccount wall = cpu;
  wall.channel = "wall of " + name;
  wall.feeds =
      "no operation: the energy beyond the channels it contains belongs to the rest of the machine";
  wall.contained = Joules{1};
  wall.static_part.reset();
  report.channels = {cpu, wall};
  report.notes = {{NoteKind::kOperationsWithoutPower, "GPU:0"}, {NoteKind::kSingleReading, name}};
  ImportReport import;
  import.file = "/tmp/" + name;
  import.format = "tensorflow-timeline";
  import.events = 1234567;
  import.operations = 1234000;
  import.device_events = 10;
  import.outside_modules = 5;
  import.Count({NoteKind::kFileDamaged, "", { "no duration in " + name }}, 77, 3);
  import.Count(NoteKind::kMetadata, 5, 2);
  report.imports = {import};
  OperationRow row;
  row.name = name + "/MatMul";
  row.device = "CPU:0";
  row.type = "MatMul";
  row.energy = Joules{4};
  row.time = Seconds{2};
  row.power = Watts{2};
  row.count = 1234567;
  row.mean_step_energy = Joules{1.3};
  row.deviation_step_energy = Joules{0.5};
  row.shapes = {"[2,3]", name};
  row.layers = 12;
  OperationRow unmetered;
  unmetered.name = "unmetered/Conv2D";
  unmetered.device = name;
  unmetered.type = name;
  unmetered.phase = Phase::kBackward;
  unmetered.time = Seconds{7};
  unmetered.count = 3;
  report.operations = report.summary = {row, unmetered};
  report.tree = report.folded = MakeTree(name);
  Timeline timeline;
  timeline.duration = Nanos{2'000'000'000};
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  timeline.channels = {{name, Origin::kMeasured, {1, unknown}, {1, unknown}, {1, unknown}, {}, {}}};
  timeline.steps = {{name, Nanos{0}, Nanos{1'000'000'000}}};
  for (auto& phase : timeline.activity) phase = {0.5, 0};
  report.timeline = timeline;
  return report;
}

}  // namespace beryl::views
