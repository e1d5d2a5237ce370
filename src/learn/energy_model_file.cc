#include "learn/energy_model_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "learn/datasheet.h"
#include "learn/described_model_file.h"
#include "learn/learn.h"
#include "learn/members.h"
#include "types/provenance.h"

namespace beryl::learn {
namespace {

constexpr int kIndent = 2;
constexpr size_t kDay = 10;  // letters of "2026-11-16"

// A feature in the file.
struct FeatureMember {
  std::string name;
  std::optional<std::string> unit;
};

template <typename Model>
struct Intervals {
  Model& model;
};
template <typename Model>
struct TrainedOn {
  Model& model;
};

}  // namespace

void Members(auto& io, As<FeatureMember> auto& feature) {
  io("name", feature.name);
  io("unit", feature.unit, false);
}

void Members(auto& io, As<LawTerm> auto& term) {
  io("value", term.value);
  io("deviation", term.deviation);
  io("measured", term.measured);
  io.Require(term.deviation >= 0, "deviation", "has to be from 0");
}

void Members(auto& io, As<EnergyLaw> auto& law) {
  io("gpu_energy", law.gpu_energy, false);
  io("cpu_energy", law.cpu_energy, false);
  io("rest_w", law.rest_w);
  io("busy_w", law.busy_w, false);
  const bool busy = law.busy_w.has_value();
  if (io.kReads || busy || law.busy_reference != 0) {
    io("busy_reference_pct", law.busy_reference, busy);
  }
}

void Members(auto& io, As<Standard> auto& standard) {
  io("mean", standard.mean);
  io("scale", standard.scale);
}

void Members(auto& io, As<PrimitiveRegressor> auto& regressor) {
  Members(io, regressor.standard);
  io("weights", regressor.weights);
  io("bias", regressor.bias);
  io("samples", regressor.samples);
}

void Members(auto& io, As<ChildWeighting> auto& weighting) {
  Members(io, weighting.standard);
  io("weights", weighting.weights);
  io("bias", weighting.bias);
  io("tau", weighting.tau);
  io.Require(weighting.tau > 0, "tau", "has to be above 0");
}

void Members(auto& io, As<ErrorBand> auto& band) {
  io("low", band.low);
  io("high", band.high);
  io("nodes", band.nodes);
  io.Require(band.low >= 0, "low", "has to be from 0");
  io.Require(band.low <= band.high, "low", "is above high");
}
bool IsThere(const MemberWriter&, const ErrorBand& band) { return band.nodes > 0; }

template <typename Model>
void Members(auto& io, const Intervals<Model>& of) {
  io("nominal", of.model.nominal);
  io("levels", ByName(of.model.bands, DataLevelName));
  io.Require(of.model.nominal > 0 && of.model.nominal < 1, "nominal", "has to be between 0 and 1");
}

template <typename Model>
void Members(auto& io, const TrainedOn<Model>& of) {
  auto& trained_on = of.model.trained_on;
  io("data", trained_on.data, false);
  io("machine", trained_on.machine, false);
  io("models", trained_on.models, false);
  io("nodes", trained_on.nodes, false);
  std::string when = of.model.provenance.when.substr(0, kDay);
  std::string tool = ToolText(of.model.provenance);
  io("when", when, false);
  io("tool", tool, false);
  if constexpr (std::remove_reference_t<decltype(io)>::kReads) {
    // Files without a provenance say it here.
    const bool is_old = of.model.provenance.version.empty();
    if (is_old) of.model.provenance.when = when;
    if (is_old) of.model.provenance.tool = tool;
  }
  io("held_out_mape", ByName(trained_on.mape, DataLevelName), false);
}

void Members(auto& io, As<Provenance> auto& provenance) {
  io("tool", provenance.tool, false);
  io("version", provenance.version, false);
  io("build_type", provenance.build_type, false);
  io("machine", provenance.machine, false);
  io("sources", provenance.sources, false);
  io("when", provenance.when, false);
}

// Other members are of a later version, or for people.
template <As<EnergyModel> Model>
void Members(auto& io, Model& model) {
  const Method method = model.method;
  const bool learned = method != Method::kDatasheet;
  if (io.kReads) io("provenance", model.provenance, false);
  if (!learned) io("datasheet", model.datasheet);
  if (!learned && !io.kReads) return;
  io("feature_set", model.feature_set, learned);
  io("features", model.features, learned);
  io("seed", model.seed, IsSeeded(method));
  if (method == Method::kLaw) io("law", model.law);
  if (HasPrimitives(method)) io("primitives", model.primitives);
  if (HasChildWeights(method)) io("child_weights", model.weighting);
  if (method == Method::kBaseline) {
    io("pue", model.pue);
    io.Require(model.pue > 0, "pue", "has to be above 0");
  }
  if (method == Method::kLaw || method == Method::kDescribe) {
    io("described", model.described, method == Method::kDescribe);
  }
  io("intervals", Intervals<Model>{model}, learned);
  io("trained_on", TrainedOn<Model>{model}, learned);
}

void Read(MemberReader& in, json::Value value, const std::string& path, FeatureSet& into) {
  std::string name;
  Read(in, value, path, name);
  const auto set = ParseFeatureSet(name);
  if (!set) return in.Fail(path, "has to be all, resource or model");
  into = *set;
}
void Write(MemberWriter& out, FeatureSet set) { Write(out, FeatureSetName(set)); }

void Read(MemberReader& in, json::Value value, const std::string& path,
          std::vector<Feature>& into) {
  if (!value.IsArray()) return in.Fail(path, "has to be a list of objects");
  std::vector<FeatureMember> members;
  Read(in, value, path, members);
  into.clear();
  for (size_t i = 0; in.ok() && i < members.size(); ++i) {
    const auto& [column, unit] = members[i];
    const std::string at = fmt::format("{}[{}]", path, i);
    const auto feature = FindFeature(column);
    if (!feature) {
      return in.Fail(
          at, fmt::format("names '{}', which is no feature that is known", Printable(column)));
    }
    if (Has(into, *feature)) in.Fail(at, fmt::format("names '{}' a second time", column));
    // Coefficients for other units would be wrong by orders of magnitude, and nothing would show.
    if (unit && *unit != LookOf(*feature).unit) {
      in.Fail(at, fmt::format("has '{}' in the unit '{}'; here it is in '{}'", column,
                              Printable(*unit), LookOf(*feature).unit));
    }
    into.push_back(*feature);
  }
}
void Write(MemberWriter& out, Feature feature) {
  Write(out, FeatureMember{std::string(LookOf(feature).column), std::string(LookOf(feature).unit)});
}

namespace {

// What of one member depends on others.
void CheckTogether(const EnergyModel& model, MemberReader& in) {
  // What the law multiplies has to be told to whoever brings data.
  const auto need = [&](Feature feature, bool used) {
    if (!used || Has(model.features, feature)) return;
    in.Fail("features", fmt::format("lacks '{}', which the law uses", LookOf(feature).column));
  };
  if (model.method == Method::kLaw) {
    need(Feature::kSeconds, true);
    need(Feature::kGpuEnergy, model.law.gpu_energy.has_value());
    need(Feature::kCpuEnergy, model.law.cpu_energy.has_value());
    need(Feature::kCpu, model.law.busy_w.has_value());
  }
  const size_t count = model.features.size();
  const auto check = [&](const std::vector<double>& list, size_t length, const std::string& path) {
    if (list.size() == length) return;
    in.Fail(path, fmt::format("has {} numbers; {} features need {}", list.size(), count, length));
  };
  const auto check_part = [&](const auto& part, size_t terms, const std::string& path) {
    check(part.standard.mean, count, path + ".mean");
    check(part.standard.scale, count, path + ".scale");
    for (const double scale : part.standard.scale) {
      if (!(scale > 0)) in.Fail(path + ".scale", "has a number that is not above 0");
    }
    check(part.weights, terms, path + ".weights");
  };
  for (const auto& [type, regressor] : model.primitives) {
    check_part(regressor, count, "primitives." + type);
  }
  if (HasChildWeights(model.method)) {
    check_part(model.weighting, CubicTerms(count), "child_weights");
  }
}

Error Refused(const std::string& name, std::string_view why) {
  return InvalidError(fmt::format("{}: {}; see docs/energy-model-file.md", name, why));
}

// What decides how the rest is read: it may stand anywhere.
Result<Method> ReadMethod(std::string& text, const std::string& name) {
  std::optional<std::string> schema;
  std::optional<std::string> method;
  const auto ok = json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    if (key == "schema") schema = value.String().value_or(value.Token());
    if (key == "method") method = value.String().value_or(value.Token());
  });
  if (!ok) return ok.error();
  if (!schema) return Refused(name, "schema is missing: this is no energy model");
  if (*schema != kEnergyModelSchema) {
    return Refused(name, fmt::format("its schema is '{}'; known is '{}'",
                                     Printable(schema->substr(0, 80)), kEnergyModelSchema));
  }
  if (!method) return Refused(name, "method is missing");
  const auto known = ParseMethod(*method);
  if (known) return *known;
  return Refused(name, fmt::format("its method is '{}'; known are law, end2end, stepwise, sum, "
                                   "unstructured, baseline and datasheet",
                                   Printable(method->substr(0, 80))));
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

Result<EnergyModel> ReadEnergyModel(std::string text, const std::string& name) {
  if (text.size() > kLargestEnergyModel) {
    return Refused(name, "larger than 64 MiB, which no energy model is");
  }
  // The walk looks at nothing that it passes over.
  if (const auto error = json::FindSyntaxError(text)) {
    return Refused(name, fmt::format("not valid JSON at byte {}: {}", error->offset,
                                     json::Describe(*error, text)));
  }
  const auto method = ReadMethod(text, name);
  if (!method) return method.error();
  EnergyModel model;
  model.name = name;
  model.method = *method;
  MemberReader in;
  ObjectReader object(in, "");
  const auto ok = json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    if (in.ok()) object.Take(PlainMemberName(key), value, model);
  });
  if (!ok) return ok.error();
  object.Finish(model);
  CheckTogether(model, in);
  if (!in.ok()) return Refused(name, in.why());
  if (model.datasheet) model.trained_on.machine = model.datasheet->device;
  return model;
}

std::string WriteEnergyModel(const EnergyModel& model) {
  JsonWriter json(kIndent);
  MemberWriter out{json};
  json.BeginObject();
  json.Member("schema", kEnergyModelSchema);
  WriteProvenance(json, model.provenance);
  json.Member("method", MethodName(model.method));
  if (model.method == Method::kLaw) json.Member("sentence", LawSentence(model.law));
  Members(out, model);
  json.End();
  return JoinNumbers(json.Take()) + "\n";
}

}  // namespace beryl::learn
