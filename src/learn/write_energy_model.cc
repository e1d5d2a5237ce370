#include <cmath>

#include "base/json_writer.h"
#include "learn/described_model_file.h"
#include "learn/energy_model_file.h"
#include "learn/learn.h"

namespace beryl::learn {
namespace {

constexpr int kIndent = 2;

void WriteNumbers(JsonWriter& json, std::string_view name, const std::vector<double>& numbers) {
  json.Key(name).BeginArray();
  for (const double number : numbers) json.Value(number);
  json.End();
}

void WriteStandard(JsonWriter& json, const Standard& standard) {
  WriteNumbers(json, "mean", standard.mean);
  WriteNumbers(json, "scale", standard.scale);
}

void WriteTerm(JsonWriter& json, std::string_view name, const LawTerm& term) {
  json.Key(name).BeginObject();
  json.Member("value", term.value).Member("deviation", term.deviation);
  json.Member("measured", term.measured).End();
}

void WriteLaw(JsonWriter& json, const EnergyLaw& law) {
  json.Key("law").BeginObject();
  if (law.gpu_energy) WriteTerm(json, "gpu_energy", *law.gpu_energy);
  if (law.cpu_energy) WriteTerm(json, "cpu_energy", *law.cpu_energy);
  WriteTerm(json, "rest_w", law.rest_w);
  if (law.busy_w) WriteTerm(json, "busy_w", *law.busy_w);
  if (law.busy_w || law.busy_reference != 0) {
    json.Member("busy_reference_pct", law.busy_reference);
  }
  json.End();
}

void WritePrimitives(JsonWriter& json, const EnergyModel& model) {
  json.Key("primitives").BeginObject();
  for (const auto& [type, regressor] : model.primitives) {
    json.Key(type).BeginObject();
    WriteStandard(json, regressor.standard);
    WriteNumbers(json, "weights", regressor.weights);
    json.Member("bias", regressor.bias).Member("samples", regressor.samples).End();
  }
  json.End();
}

void WriteChildWeights(JsonWriter& json, const ChildWeighting& weighting) {
  json.Key("child_weights").BeginObject();
  WriteStandard(json, weighting.standard);
  WriteNumbers(json, "weights", weighting.weights);
  json.Member("bias", weighting.bias).Member("tau", weighting.tau).End();
}

void WriteIntervals(JsonWriter& json, const EnergyModel& model) {
  json.Key("intervals").BeginObject();
  json.Member("nominal", model.nominal).Key("levels").BeginObject();
  for (size_t i = 0; i < model.bands.size(); ++i) {
    const ErrorBand& band = model.bands[i];
    if (band.nodes == 0) continue;
    json.Key(LevelName(kDataLevels[i])).BeginObject();
    json.Member("low", band.low).Member("high", band.high).Member("nodes", band.nodes).End();
  }
  json.End().End();
}

void WriteTrainedOn(JsonWriter& json, const EnergyModel::TrainedOn& trained_on) {
  json.Key("trained_on").BeginObject();
  json.Member("data", trained_on.data).Member("machine", trained_on.machine);
  json.Key("models").BeginArray();
  for (const std::string& model : trained_on.models) json.Value(model);
  json.End();
  json.Member("nodes", trained_on.nodes).Member("when", trained_on.when);
  json.Member("tool", trained_on.tool).Key("held_out_mape").BeginObject();
  for (size_t i = 0; i < trained_on.mape.size(); ++i) {
    if (std::isnan(trained_on.mape[i])) continue;
    json.Member(LevelName(kDataLevels[i]), trained_on.mape[i]);
  }
  json.End().End();
}

void WriteDatasheet(JsonWriter& json, const Datasheet& sheet) {
  json.Key("datasheet").BeginObject();
  json.Member("device", sheet.device).Member("gpu", sheet.gpu);
  json.Key("matmul_flops").BeginObject();
  for (size_t i = 0; i < sheet.matmul_flops.size(); ++i) {
    if (std::isnan(sheet.matmul_flops[i])) continue;
    json.Member(DtypeName(static_cast<Dtype>(i)), sheet.matmul_flops[i]);
  }
  json.End();
  json.Member("vector_flops", sheet.vector_flops).Member("bandwidth", sheet.bandwidth);
  json.Member("link_bandwidth", sheet.link_bandwidth);
  if (!std::isnan(sheet.memory)) json.Member("memory", sheet.memory);
  json.Member("idle_w", sheet.idle_power).Member("board_w", sheet.board_power);
  json.Key("sources").BeginArray();
  for (const std::string& source : sheet.sources) json.Value(source);
  json.End().End();
}

// Hundreds of numbers, a line each, would bury what a person looks for: a list of numbers goes on
// one line.
std::string JoinNumbers(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    joined += text[i];
    if (in_string && text[i] == '\\') {
      joined += text[++i];
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    if (in_string || text[i] != '[') continue;
    const size_t end = text.find_first_of("]\"{", i + 1);
    if (end == std::string_view::npos || text[end] != ']') continue;
    for (++i; i < end; ++i) {
      if (text[i] != '\n' && text[i] != ' ') joined += text[i];
      if (text[i] == ',') joined += ' ';
    }
    joined += ']';
  }
  return joined;
}

}  // namespace

std::string WriteEnergyModel(const EnergyModel& model) {
  JsonWriter json(kIndent);
  json.BeginObject();
  json.Member("schema", kEnergyModelSchema).Member("method", MethodName(model.method));
  if (model.method == Method::kLaw) json.Member("sentence", LawSentence(model.law));
  if (model.method == Method::kDatasheet) {
    WriteDatasheet(json, model.datasheet.value_or(Datasheet{}));
    json.End();
    return json.Take() + "\n";
  }
  json.Member("feature_set", FeatureSetName(model.feature_set));
  json.Key("features").BeginArray();
  for (const Feature feature : model.features) {
    const FeatureLook& look = LookOf(feature);
    json.BeginObject().Member("name", look.column).Member("unit", look.unit).End();
  }
  json.End().Member("seed", model.seed);
  if (model.method == Method::kLaw) WriteLaw(json, model.law);
  if (HasPrimitives(model.method)) WritePrimitives(json, model);
  if (HasChildWeights(model.method)) WriteChildWeights(json, model.weighting);
  if (model.method == Method::kBaseline) json.Member("pue", model.pue);
  if (model.described) WriteDescribed(json, *model.described);
  WriteIntervals(json, model);
  WriteTrainedOn(json, model.trained_on);
  json.End();
  return JoinNumbers(json.Take()) + "\n";
}

}  // namespace beryl::learn
