#include "learn/energy_model_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/members.h"
#include "learn/methods/method.h"
#include "types/provenance.h"

namespace beryl::learn {
namespace {

constexpr std::string_view kEnergyModelSchema = "beryl.energy-model/1";
constexpr int kIndent = 2;

// "2026-11-16" of "2026-11-16T01:32:48Z".
std::string DayOf(const std::string& when) {
  constexpr size_t kDay = 10;
  return when.substr(0, std::min(kDay, when.find_first_not_of("0123456789-")));
}

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

void Members(auto& io, As<ErrorBand> auto& band) {
  io("low", band.low);
  io("high", band.high);
  io("nodes", band.nodes);
  io.Require(band.low >= 0, "low", "must be 0 or more");
  io.Require(band.low <= band.high, "low", "is above high");
}
bool IsThere(const MemberWriter&, const ErrorBand& band) { return band.nodes > 0; }

template <typename Model>
void Members(auto& io, const Intervals<Model>& of) {
  io("nominal", of.model.nominal);
  io("levels", ByName(of.model.bands, DataLevelName));
  io.Require(of.model.nominal > 0 && of.model.nominal < 1, "nominal", "must be between 0 and 1");
}

template <typename Model>
void Members(auto& io, const TrainedOn<Model>& of) {
  auto& trained_on = of.model.trained_on;
  io("data", trained_on.data, false);
  io("machine", trained_on.machine, false);
  io("models", trained_on.models, false);
  io("nodes", trained_on.nodes, false);
  std::string when = DayOf(of.model.provenance.when);
  std::string tool = ToolText(of.model.provenance);
  io("when", when, false);
  io("tool", tool, false);
  if constexpr (std::remove_reference_t<decltype(io)>::kReads) {
    // Older files without a provenance have the values here.
    const bool is_old = of.model.provenance.version.empty();
    if (is_old) of.model.provenance.when = when;
    if (is_old) of.model.provenance.tool = tool;
  }
  io("attention", trained_on.attention, false);
  io("dtype", trained_on.dtype, false);
  io("memory", trained_on.memory, false);
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

// Unknown members belong to a later version or are meant for people.
template <As<EnergyModel> Model>
void Members(auto& io, Model& model) {
  const Method method = model.method;
  const bool learned = method != Method::kDatasheet;
  if (io.kReads) io("provenance", model.provenance, false);
  const auto own_part = [&] {
    if constexpr (std::remove_reference_t<decltype(io)>::kReads) {
      StepsOf(method).read(io, model);
    } else {
      StepsOf(method).write(io, model);
    }
  };
  if (!learned && !io.kReads) return own_part();
  io("feature_set", model.feature_set, learned);
  io("features", model.features, learned);
  io("seed", model.seed, IsSeeded(method));
  own_part();
  io("intervals", Intervals<Model>{model}, learned);
  io("trained_on", TrainedOn<Model>{model}, learned);
}

// A member whose value is one of some words.
template <typename T>
void ReadWord(MemberReader& in, json::Value value, const std::string& path, T& into,
              std::optional<T> (*parse)(std::string_view), const char* words) {
  std::string word;
  Read(in, value, path, word);
  const auto parsed = parse(word);
  if (!parsed) return in.Fail(path, words);
  into = *parsed;
}
void Read(MemberReader& in, json::Value value, const std::string& path, AttentionKind& into) {
  ReadWord(in, value, path, into, ParseAttention, "must be eager, sdpa or flash");
}
void Write(MemberWriter& out, AttentionKind attention) { Write(out, AttentionName(attention)); }
void Read(MemberReader& in, json::Value value, const std::string& path, Dtype& into) {
  ReadWord(in, value, path, into, ParseDtype, "must be float32, float16, bfloat16, int8 or int4");
}
void Write(MemberWriter& out, Dtype dtype) { Write(out, DtypeName(dtype)); }
void Read(MemberReader& in, json::Value value, const std::string& path, FeatureSet& into) {
  ReadWord(in, value, path, into, ParseFeatureSet, "must be all, resource or model");
}
void Write(MemberWriter& out, FeatureSet set) { Write(out, FeatureSetName(set)); }

void Read(MemberReader& in, json::Value value, const std::string& path,
          std::vector<Feature>& into) {
  if (!value.IsArray()) return in.Fail(path, "must be a list of objects");
  std::vector<FeatureMember> members;
  Read(in, value, path, members);
  into.clear();
  for (size_t i = 0; in.ok() && i < members.size(); ++i) {
    const auto& [column, unit] = members[i];
    const std::string at = fmt::format("{}[{}]", path, i);
    const auto feature = FindFeature(column);
    if (!feature) {
      return in.Fail(at, fmt::format("names an unknown feature '{}'", Printable(column)));
    }
    if (Has(into, *feature)) in.Fail(at, fmt::format("names '{}' a second time", column));
    // Coefficients for other units would be wrong by orders of magnitude without any visible sign.
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

Error Refused(const std::string& name, std::string_view why) {
  return InvalidError(fmt::format("{}: {}; see docs/energy-model-file.md", name, why));
}

// Reads the method first, because it decides how the rest is read. It may be anywhere in the file.
Result<Method> ReadMethod(std::string& text, const std::string& name) {
  std::optional<std::string> schema;
  std::optional<std::string> method;
  TRY(json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    if (key == "schema") schema = value.String().value_or(value.Token());
    if (key == "method") method = value.String().value_or(value.Token());
  }));
  if (!schema) return Refused(name, "schema is missing: this is not an energy model");
  if (*schema != kEnergyModelSchema) {
    return Refused(name, fmt::format("its schema is '{}'; expected '{}'",
                                     Printable(schema->substr(0, 80)), kEnergyModelSchema));
  }
  if (!method) return Refused(name, "method is missing");
  const auto known = ParseMethod(*method);
  if (known) return *known;
  std::string names;
  for (const MethodLook& look : Methods()) {
    names += names.empty() ? "" : look.method == Methods().back().method ? " or " : ", ";
    names += look.name;
  }
  return Refused(name, fmt::format("its method is '{}'; expected {}",
                                   Printable(method->substr(0, 80)), names));
}

// Puts a list of numbers on one line: hundreds of lines with one number each would hide the rest
// from a person.
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
    return Refused(name, "larger than 64 MiB, too large for an energy model");
  }
  // The reader does not check the parts that it skips.
  if (const auto error = json::FindSyntaxError(text)) {
    return Refused(name, fmt::format("not valid JSON at byte {}: {}", error->offset,
                                     json::Describe(*error, text)));
  }
  const auto method = TRY(ReadMethod(text, name));
  EnergyModel model;
  model.name = name;
  model.method = method;
  MemberReader in;
  ObjectReader object(in, "");
  TRY(json::WalkObject(text, name, [&](json::Key key, json::Value value) {
    if (in.ok()) object.Take(json::PlainMemberName(key), value, model);
  }));
  object.Finish(model);
  if (!in.ok()) return Refused(name, in.why());
  if (const Datasheet* sheet = model.datasheet()) {
    model.trained_on.machine = sheet->device;
    model.trained_on.memory = sheet->memory;
  }
  return model;
}

std::string WriteEnergyModel(const EnergyModel& model) {
  JsonWriter json(kIndent);
  MemberWriter out{json};
  json.BeginObject();
  json.Member("schema", kEnergyModelSchema);
  WriteProvenance(json, model.provenance);
  json.Member("method", MethodName(model.method));
  if (const EnergyLaw* law = model.law()) json.Member("sentence", LawSentence(*law));
  Members(out, model);
  json.End();
  return JoinNumbers(json.Take()) + "\n";
}

}  // namespace beryl::learn
