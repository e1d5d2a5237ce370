#include "views/export.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/string_table.h"
#include "base/text.h"
#include "views/svg_parts.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr double kMicro = 1e-6;

const Column& Total(const AccountReport& report) { return report.tree.columns.front(); }

// The nodes from below the root to `node`, outermost first; the root itself if it is that.
std::vector<NodeId> StackOf(const ModelTree& tree, NodeId node) {
  std::vector<NodeId> stack;
  for (; node != 0; node = tree.nodes[node].parent) stack.push_back(node);
  if (stack.empty()) stack.push_back(0);
  std::reverse(stack.begin(), stack.end());
  return stack;
}

// Semicolons separate frames and a line is a stack, so names have neither.
std::string FrameName(std::string_view name) {
  std::string frame = Printable(name);
  std::replace(frame.begin(), frame.end(), ';', ':');
  return frame.empty() ? "?" : frame;
}

void WriteSampledProfile(JsonWriter& json, const AccountReport& report, const Column& column,
                         const std::string& name, const std::vector<uint32_t>& frame_of_node) {
  std::vector<std::vector<uint32_t>> samples;
  std::vector<double> weights;
  for (NodeId id = 0; id < column.self.size(); ++id) {
    if (!(column.self[id] > 0)) continue;
    weights.push_back(column.self[id]);
    std::vector<uint32_t>& sample = samples.emplace_back();
    for (const NodeId frame : StackOf(report.tree.tree, id)) sample.push_back(frame_of_node[frame]);
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  json.BeginObject().Member("type", "sampled").Member("name", name).Member("unit", "none");
  json.Member("startValue", 0).Member("endValue", sum);
  json.Member("samples", samples).Member("weights", weights).End();
}

void WriteProcessName(JsonWriter& json, int process, std::string_view name) {
  json.BeginObject().Member("name", "process_name");
  json.Member("ph", "M").Member("pid", process).Member("tid", 0);
  json.Key("args").BeginObject().Member("name", name).End().End();
}

// The tree as calls that take a microsecond for a microjoule. What a node did itself comes before
// its children.
void WriteEnergyTrack(JsonWriter& json, const AccountReport& report, int process) {
  const ModelTree& tree = report.tree.tree;
  const std::vector<uint64_t> self = RoundTogether(Total(report).self, kMicro);
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
    json.Member("ph", "X").Member("pid", process).Member("tid", 1);
    json.Member("ts", start).Member("dur", total[id]);
    json.Key("args").BeginObject().Member("path", NodePath(tree, id)).Member("type", node.type);
    json.Member("energy_j", Total(report).total[id]).Member("self_j", Total(report).self[id]);
    json.End().End();
  }
}

void WritePowerTracks(JsonWriter& json, const Timeline& timeline, int process) {
  for (const Timeline::Channel& channel : timeline.channels) {
    const auto slices = static_cast<double>(channel.mean_w.size());
    for (size_t slice = 0; slice < channel.mean_w.size(); ++slice) {
      // A counter keeps its value until the next one; of unknown power nothing can be said.
      if (std::isnan(channel.mean_w[slice])) continue;
      json.BeginObject().Member("name", channel.name + " power");
      json.Member("ph", "C").Member("pid", process).Member("tid", 0);
      json.Member("ts", timeline.duration.seconds() * 1e6 * static_cast<double>(slice) / slices);
      json.Key("args").BeginObject().Member("W", channel.mean_w[slice]).End().End();
    }
  }
}

}  // namespace

std::vector<uint64_t> RoundTogether(const std::vector<double>& values, double unit) {
  std::vector<uint64_t> rounded(values.size(), 0);
  std::vector<size_t> order;
  double sum = 0;
  uint64_t given = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    // What is beyond a 64-bit number of them is no energy of any program.
    const double count = values[i] / unit;
    if (!(count > 0) || count > 9e15) continue;
    rounded[i] = static_cast<uint64_t>(count);
    given += rounded[i];
    sum += count;
    order.push_back(i);
  }
  auto rest = [&](size_t i) { return values[i] / unit - static_cast<double>(rounded[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rest(a) > rest(b); });
  const int64_t missing = std::llround(sum) - static_cast<int64_t>(given);
  const auto most = std::clamp<int64_t>(missing, 0, static_cast<int64_t>(order.size()));
  for (size_t i = 0; i < static_cast<size_t>(most); ++i) ++rounded[order[i]];
  return rounded;
}

std::string WriteFoldedStacks(const AccountReport& report) {
  const ModelTree& tree = report.tree.tree;
  const std::vector<uint64_t> weights = RoundTogether(Total(report).self, kMicro);
  std::string text;
  for (NodeId id = 0; id < weights.size(); ++id) {
    if (weights[id] == 0) continue;
    std::string line;
    for (const NodeId frame : StackOf(tree, id)) {
      line += (line.empty() ? "" : ";") + FrameName(tree.nodes[frame].name);
    }
    text += fmt::format("{} {}\n", line, weights[id]);
  }
  return text;
}

std::string WriteSpeedscope(const AccountReport& report) {
  StringTable names;
  std::vector<uint32_t> frame_of_node;
  for (const TreeNode& node : report.tree.tree.nodes) {
    frame_of_node.push_back(names.Intern(FrameName(node.name)));
  }
  JsonWriter json;
  json.BeginObject();
  json.Member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.Member("name", RunName(report.context) + " (joules)");
  json.Member("exporter", StampText(report.provenance));
  json.Member("activeProfileIndex", 0);
  json.Key("shared").BeginObject().Key("frames").BeginArray();
  for (uint32_t id = 0; id < names.size(); ++id) {
    // The empty string is always interned, and no frame of ours.
    json.BeginObject().Member("name", id == 0 ? "?" : names.Text(id)).End();
  }
  json.End().End();
  json.Key("profiles").BeginArray();
  WriteSampledProfile(json, report, Total(report), "energy in joules, all devices", frame_of_node);
  for (const Column& column : report.tree.columns) {
    if (column.of != Column::Of::kChannel) continue;
    WriteSampledProfile(json, report, column, fmt::format("energy in joules, {}", column.label),
                        frame_of_node);
  }
  json.End();
  return EndResult(json);
}

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
  WriteProcessName(json, kEnergy, "energy: a second is a joule");
  WriteEnergyTrack(json, report, kEnergy);
  if (report.timeline) {
    WriteProcessName(json, kPower, "power over time: a second is a second");
    WritePowerTracks(json, *report.timeline, kPower);
  }
  json.End();
  return EndResult(json);
}

std::string Write(const AccountReport& report, const std::vector<double>& self_s,
                  ProfileFormat format) {
  if (format == ProfileFormat::kSpeedscope) return WriteSpeedscope(report);
  if (format == ProfileFormat::kChrome) return WriteChromeTrace(report);
  if (format == ProfileFormat::kPprof) return WritePprof(report, self_s);
  return WriteFoldedStacks(report);
}

}  // namespace beryl::views
