// https://www.speedscope.app/file-format-schema.json
#include <numeric>

#include <fmt/format.h>

#include "base/json_writer.h"
#include "base/string_table.h"
#include "views/draw/svg_parts.h"
#include "views/export.h"
#include "views/text/notes.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

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

}  // namespace

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
  json.Member("exporter", StampLine(report.provenance)).Member("activeProfileIndex", 0);
  json.Key("shared").BeginObject().Key("frames").BeginArray();
  for (uint32_t id = 0; id < names.size(); ++id) {
    // The empty string is always interned and is not a frame.
    json.BeginObject().Member("name", id == 0 ? "?" : names.Text(id)).End();
  }
  json.End().End();
  json.Key("profiles").BeginArray();
  WriteSampledProfile(json, report, EnergyOf(report), "energy in joules, all devices",
                      frame_of_node);
  for (const Column& column : report.tree.columns) {
    if (column.of != Column::Of::kChannel) continue;
    WriteSampledProfile(json, report, column, fmt::format("energy in joules, {}", column.label),
                        frame_of_node);
  }
  json.End();
  return EndResult(json);
}

}  // namespace beryl::views
