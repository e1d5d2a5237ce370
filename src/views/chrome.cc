// The trace event format of chrome://tracing.
#include <cmath>

#include "base/json_writer.h"
#include "views/export.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

void WriteProcessName(JsonWriter& json, int process, std::string_view name) {
  json.BeginObject().Member("name", "process_name");
  json.Member("ph", "M").Member("pid", process).Member("tid", 0);
  json.Key("args").BeginObject().Member("name", name).End().End();
}

// The tree as calls that last one microsecond per microjoule. The node's own energy comes before
// its children.
void WriteEnergyTrack(JsonWriter& json, const AccountReport& report, int process) {
  const ModelTree& tree = report.tree.tree;
  const std::vector<uint64_t> self = RoundTogether(EnergyOf(report).self, kMicrojoule);
  std::vector<uint64_t> total = self;
  for (size_t id = tree.nodes.size(); id-- > 1;) total[tree.nodes[id].parent] += total[id];
  std::vector<uint64_t> next(tree.nodes.size(), 0);  // where the next child of a node starts
  for (NodeId id = 0; id < tree.nodes.size(); ++id) {
    if (total[id] == 0) continue;
    const TreeNode& node = tree.nodes[id];
    uint64_t start = 0;
    if (id > 0) {
      start = next[node.parent];
      next[node.parent] += total[id];
    }
    next[id] = start + self[id];
    json.BeginObject().Member("name", FrameName(node.name)).Member("cat", LevelName(node.level));
    json.Member("ph", "X").Member("pid", process).Member("tid", 1).Member("ts", start);
    json.Member("dur", total[id]);
    json.Key("args").BeginObject().Member("path", NodePath(tree, id)).Member("type", node.type);
    json.Member("energy_j", EnergyOf(report).total[id]).Member("self_j", EnergyOf(report).self[id]);
    json.End().End();
  }
}

void WritePowerTracks(JsonWriter& json, const Timeline& timeline, int process) {
  for (const Timeline::Channel& channel : timeline.channels) {
    const auto slices = static_cast<double>(channel.mean_w.size());
    for (size_t slice = 0; slice < channel.mean_w.size(); ++slice) {
      // A counter keeps its value until the next one; unknown power is skipped.
      if (std::isnan(channel.mean_w[slice])) continue;
      json.BeginObject().Member("name", channel.name + " power");
      json.Member("ph", "C").Member("pid", process).Member("tid", 0);
      json.Member("ts", timeline.duration.seconds() * 1e6 * static_cast<double>(slice) / slices);
      json.Key("args").BeginObject().Member("W", channel.mean_w[slice]).End().End();
    }
  }
}

}  // namespace

std::string WriteChromeTrace(const AccountReport& report) {
  constexpr int kEnergy = 1;
  constexpr int kPower = 2;
  JsonWriter json;
  json.BeginObject();
  json.Member("displayTimeUnit", "ms");
  json.Key("otherData");
  BeginResult(json, "beryl.chrome/1", report.provenance);
  json.Member("tool", ToolText(report.provenance));
  json.Member("energy_source", report.context.energy_source);
  json.End();
  json.Key("traceEvents").BeginArray();
  WriteProcessName(json, kEnergy, "energy: one second is one joule");
  WriteEnergyTrack(json, report, kEnergy);
  if (report.timeline) {
    WriteProcessName(json, kPower, "power over time, in real seconds");
    WritePowerTracks(json, *report.timeline, kPower);
  }
  json.End();
  return EndResult(json);
}

}  // namespace beryl::views
