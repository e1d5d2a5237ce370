// The energy of a model that was never run, in JSON and CSV.

#include <fmt/format.h>

#include "views/described.h"
#include "views/energy_use.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.predict/1";

void WriteEnergy(JsonWriter& json, const DescribedPrediction& prediction, NodeId node) {
  json.Member("energy_j", prediction.energy.total[node]);
  json.Member("low_j", ValueAt(prediction.energy.low, node));
  json.Member("high_j", ValueAt(prediction.energy.high, node));
}

void WriteNode(JsonWriter& json,  // NOLINT(misc-no-recursion)
               const DescribedPrediction& prediction, NodeId node, const ViewOptions& options) {
  const Description& description = prediction.description;
  const TreeNode& of = description.tree.nodes[node];
  const DescribedNode& described = description.nodes[node];
  json.BeginObject();
  json.Member("name", of.name);
  json.Member("scope", described.scope);
  json.Member("type", of.type);
  json.Member("level", LevelName(of.level));
  json.Member("phase", RunPhaseName(described.phase));
  WriteEnergy(json, prediction, node);
  json.Member("share", prediction.energy.total[node] / prediction.energy.total[0]);
  json.Member("self_j", ValueAt(prediction.energy.self, node));
  json.Member("seconds", ValueAt(prediction.seconds, node));
  json.Member("power_w", WattsOf(prediction, node));
  WriteWhole(json, "flops", described.work.flops);
  WriteWhole(json, "bytes", described.work.Bytes());
  json.Member("beyond", IsBeyond(prediction, node));
  json.Key("children").BeginArray();
  for (NodeId child = node + 1; child < of.end; child = description.tree.nodes[child].end) {
    if (options.depth && description.tree.nodes[child].depth > *options.depth) break;
    WriteNode(json, prediction, child, options);
  }
  json.End();
  json.End();
}

void WritePhases(JsonWriter& json, const DescribedPrediction& prediction) {
  const std::vector<NodeId> phases = PhasesOf(prediction.description);
  if (phases.empty()) return;
  json.Key("phases").BeginArray();
  for (const NodeId node : phases) {
    const RunPhase phase = prediction.description.nodes[node].phase;
    json.BeginObject();
    json.Member("phase", RunPhaseName(phase));
    WriteWhole(json, "tokens", TokensOf(prediction.description.input, phase));
    WriteEnergy(json, prediction, node);
    json.Member("seconds", ValueAt(prediction.seconds, node));
    json.Member("power_w", WattsOf(prediction, node));
    json.Member("energy_per_token_j", JoulesPerToken(prediction, node));
    json.End();
  }
  json.End();
}

void WriteCosts(JsonWriter& json, const DescribedPrediction& prediction) {
  json.Key("costs");
  if (!prediction.costs || prediction.costs->rows.empty()) {
    json.Value(std::optional<double>());
    return;
  }
  const QueryCosts::Row& row = prediction.costs->rows.front();
  json.BeginObject();
  json.Member("queries", prediction.costs->queries);
  json.Member("query_j", row.query_j);
  json.Member("kwh", row.kwh);
  json.Member("kwh_low", row.kwh_low);
  json.Member("kwh_high", row.kwh_high);
  json.Member("price", row.price);
  json.Member("co2e_kg", row.co2e_kg);
  WriteElectricity(json, prediction.costs->electricity);
  json.End();
}

std::string Json(const DescribedPrediction& prediction, const ViewOptions& options) {
  const Description& description = prediction.description;
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  json.Member("model", description.model);
  json.Member("family", description.family);
  WriteInput(json, description);
  json.Member("profile", prediction.profile);
  json.Member("machine", prediction.machine);
  json.Member("origin", "description");
  json.Member("calibrated", prediction.calibrated);
  json.Member("interval", prediction.nominal);
  WriteEnergy(json, prediction, 0);
  json.Member("seconds", ValueAt(prediction.seconds, 0));
  json.Member("power_w", WattsOf(prediction, 0));
  const double tokens = TokensOf(description.input);
  WriteWhole(json, "tokens", tokens > 0 ? tokens : kUnknown);
  json.Member("energy_per_token_j", JoulesPerToken(prediction, 0));
  WritePhases(json, prediction);
  WriteCosts(json, prediction);
  json.Key("tree");
  WriteNode(json, prediction, 0, options);
  WriteSentences(json, "notes", prediction.notes);
  WriteSentences(json, "assumptions", description.assumptions);
  json.Member("tool", prediction.tool);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const DescribedPrediction& prediction, const ViewOptions& options) {
  const Description& description = prediction.description;
  std::string text =
      "model,depth,scope,name,type,level,phase,energy_j,low_j,high_j,share,self_j,seconds,power_w,"
      "flops,bytes,beyond,batch,seq,gpus,dtype,attention,profile,calibrated,schema\n";
  const ModelInput& input = description.input;
  const std::string last = fmt::format(
      "{},{},{},{},{},{},{},{}", input.batch, input.seq > 0 ? std::to_string(input.seq) : "",
      input.gpus, DtypeName(description.dtype), AttentionName(description.attention),
      CsvText(prediction.profile), prediction.calibrated ? "yes" : "no", kSchema);
  const Column& energy = prediction.energy;
  for (NodeId node = 0; node < description.nodes.size(); ++node) {
    const TreeNode& of = description.tree.nodes[node];
    const DescribedNode& described = description.nodes[node];
    if (options.depth && of.depth > *options.depth) continue;
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(description.model),
        of.depth, CsvText(described.scope), CsvText(of.name), CsvText(of.type),
        LevelName(of.level), RunPhaseName(described.phase), CsvFigure(energy.total[node]),
        CsvFigure(ValueAt(energy.low, node)), CsvFigure(ValueAt(energy.high, node)),
        CsvFigure(energy.total[node] / energy.total[0]), CsvFigure(ValueAt(energy.self, node)),
        CsvFigure(ValueAt(prediction.seconds, node)), CsvFigure(WattsOf(prediction, node)),
        WholeOrFigure(described.work.flops), WholeOrFigure(described.work.Bytes()),
        IsBeyond(prediction, node) ? "yes" : "no", last);
  }
  return text;
}

}  // namespace

std::string Write(const DescribedPrediction& prediction, Format format,
                  const ViewOptions& options) {
  if (format == Format::kJson) return Json(prediction, options);
  if (format == Format::kCsv) return Csv(prediction, options);
  return WriteTable(prediction, options);
}

}  // namespace beryl::views
