#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "learn/datasheet.h"
#include "learn/described_model_file.h"
#include "learn/energy_model_file.h"
#include "learn/learn.h"
#include "learn/member_reader.h"

namespace beryl::learn {
namespace {

std::optional<size_t> FindDataLevel(std::string_view name) {
  for (size_t i = 0; i < kDataLevels.size(); ++i) {
    if (LevelName(kDataLevels[i]) == name) return i;
  }
  return std::nullopt;
}

std::optional<Feature> FindFeature(std::string_view column) {
  for (size_t i = 0; i < kFeatureCount; ++i) {
    if (LookOf(static_cast<Feature>(i)).column == column) return static_cast<Feature>(i);
  }
  return std::nullopt;
}

// Members come in any order: they are gathered in one walk, and what depends on several of them is
// looked at after it.
class ModelReader {
 public:
  explicit ModelReader(EnergyModel& model) : model_(model) {}

  void ReadMember(std::string_view name, json::Value value) {
    if (!in_.ok()) return;
    const std::string path(name);
    if (name == "feature_set") {
      ReadFeatureSet(value);
    } else if (name == "features") {
      ReadFeatures(value);
    } else if (name == "seed") {
      in_.Read(value, path, model_.seed);
    } else if (name == "law" && model_.method == Method::kLaw) {
      ReadLaw(value);
    } else if (name == "primitives" && HasPrimitives(model_.method)) {
      ReadPrimitives(value);
    } else if (name == "child_weights" && HasChildWeights(model_.method)) {
      ReadChildWeights(value);
    } else if (name == "pue" && model_.method == Method::kBaseline) {
      in_.Read(value, path, model_.pue);
      Require(model_.pue > 0, path, "has to be above 0");
    } else if (name == "datasheet" && model_.method == Method::kDatasheet) {
      ReadDatasheet(value, in_, model_.datasheet.emplace());
    } else if (name == "described" &&
               (model_.method == Method::kLaw || model_.method == Method::kDescribe)) {
      ReadDescribed(value, in_, model_.described.emplace());
    } else if (name == "intervals") {
      ReadIntervals(value);
    } else if (name == "trained_on") {
      ReadTrainedOn(value);
    } else if (name == "provenance") {
      ReadProvenance(value);
    } else {
      return;  // of a later version, or for people
    }
    seen_.push_back(path);
  }

  // Why it is refused; empty: it is not.
  std::string Finish() {
    if (model_.provenance.tool.empty()) model_.provenance = std::move(old_);
    if (model_.method == Method::kDatasheet) {
      Need("datasheet");
      if (model_.datasheet) model_.trained_on.machine = model_.datasheet->device;
      return in_.why();
    }
    for (const char* name : {"feature_set", "features", "intervals", "trained_on"}) Need(name);
    if (IsSeeded(model_.method)) Need("seed");
    if (model_.method == Method::kLaw) Need("law");
    if (model_.method == Method::kBaseline) Need("pue");
    if (model_.method == Method::kDescribe) Need("described");
    if (HasPrimitives(model_.method)) Need("primitives");
    if (HasChildWeights(model_.method)) Need("child_weights");
    if (model_.method == Method::kLaw) {
      const EnergyLaw& law = model_.law;
      NeedFeature(Feature::kSeconds, true);
      NeedFeature(Feature::kGpuEnergy, law.gpu_energy.has_value());
      NeedFeature(Feature::kCpuEnergy, law.cpu_energy.has_value());
      NeedFeature(Feature::kCpu, law.busy_w.has_value());
    }
    const size_t count = model_.features.size();
    for (const auto& [type, regressor] : model_.primitives) {
      CheckStandard(regressor.standard, "primitives." + type);
      CheckLength(regressor.weights, count, "primitives." + type + ".weights");
    }
    if (HasChildWeights(model_.method)) {
      CheckStandard(model_.weighting.standard, "child_weights");
      CheckLength(model_.weighting.weights, CubicTerms(count), "child_weights.weights");
    }
    return in_.why();
  }

 private:
  void Require(bool law, std::string_view path, std::string_view what) {
    if (!law) in_.Fail(path, what);
  }
  // What the law multiplies has to be told to whoever brings data.
  void NeedFeature(Feature feature, bool used) {
    const auto& features = model_.features;
    Require(!used || std::find(features.begin(), features.end(), feature) != features.end(),
            "features", fmt::format("lacks '{}', which the law uses", LookOf(feature).column));
  }
  void Need(const char* name) {
    Require(std::find(seen_.begin(), seen_.end(), name) != seen_.end(), name, "is missing");
  }
  void CheckLength(const std::vector<double>& list, size_t length, const std::string& path) {
    if (list.size() == length) return;
    in_.Fail(path, fmt::format("has {} numbers; {} features need {}", list.size(),
                               model_.features.size(), length));
  }
  void CheckStandard(const Standard& standard, const std::string& path) {
    CheckLength(standard.mean, model_.features.size(), path + ".mean");
    CheckLength(standard.scale, model_.features.size(), path + ".scale");
    for (const double scale : standard.scale) {
      Require(scale > 0, path + ".scale", "has a number that is not above 0");
    }
  }

  void ReadFeatureSet(json::Value value) {
    std::string name;
    in_.Read(value, "feature_set", name);
    const auto set = ParseFeatureSet(name);
    Require(set.has_value(), "feature_set", "has to be all, resource or model");
    if (set) model_.feature_set = *set;
  }

  void ReadFeatures(json::Value value) {
    if (!value.IsArray()) return in_.Fail("features", "has to be a list of objects");
    model_.features.clear();
    const bool sound = value.ForEachElement([&](json::Value element) {
      if (in_.ok()) ReadFeature(element, fmt::format("features[{}]", model_.features.size()));
    });
    Require(sound, "features", "cannot be read");
  }

  void ReadFeature(json::Value value, const std::string& path) {
    std::string column;
    std::optional<std::string> unit;
    in_.ReadObject(value, path, {"name"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "name") in_.Read(member, where, column);
                     if (name == "unit") in_.Read(member, where, unit.emplace());
                   });
    if (!in_.ok()) return;
    const auto feature = FindFeature(column);
    if (!feature)
      return in_.Fail(
          path, fmt::format("names '{}', which is no feature that is known", Printable(column)));
    const auto& known = model_.features;
    Require(std::find(known.begin(), known.end(), *feature) == known.end(), path,
            fmt::format("names '{}' a second time", column));
    // Coefficients for other units would be wrong by orders of magnitude, and nothing would show.
    Require(!unit || *unit == LookOf(*feature).unit, path,
            fmt::format("has '{}' in the unit '{}'; here it is in '{}'", column,
                        Printable(unit.value_or("")), LookOf(*feature).unit));
    model_.features.push_back(*feature);
  }

  void ReadTerm(json::Value value, const std::string& path, LawTerm& term) {
    in_.ReadObject(value, path, {"value", "deviation", "measured"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "value") in_.Read(member, where, term.value);
                     if (name == "deviation") in_.Read(member, where, term.deviation);
                     if (name == "measured") in_.Read(member, where, term.measured);
                   });
    Require(term.deviation >= 0, path + ".deviation", "has to be from 0");
  }

  void ReadLaw(json::Value value) {
    EnergyLaw& law = model_.law;
    bool has_reference = false;
    in_.ReadObject(value, "law", {"rest_w"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "gpu_energy") ReadTerm(member, where, law.gpu_energy.emplace());
                     if (name == "cpu_energy") ReadTerm(member, where, law.cpu_energy.emplace());
                     if (name == "rest_w") ReadTerm(member, where, law.rest_w);
                     if (name == "busy_w") ReadTerm(member, where, law.busy_w.emplace());
                     if (name == "busy_reference_pct") {
                       has_reference = true;
                       in_.Read(member, where, law.busy_reference);
                     }
                   });
    Require(!law.busy_w || has_reference, "law.busy_reference_pct", "is missing");
  }

  void ReadPrimitives(json::Value value) {
    in_.ReadObject(value, "primitives", {},
                   [&](std::string_view type, const std::string& path, json::Value member) {
                     const auto [at, added] = model_.primitives.try_emplace(std::string(type));
                     Require(added, path, "is there twice");
                     ReadPrimitive(member, path, at->second);
                   });
  }

  void ReadPrimitive(json::Value value, const std::string& path, PrimitiveRegressor& into) {
    in_.ReadObject(value, path, {"mean", "scale", "weights", "bias", "samples"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "mean") in_.Read(member, where, into.standard.mean);
                     if (name == "scale") in_.Read(member, where, into.standard.scale);
                     if (name == "weights") in_.Read(member, where, into.weights);
                     if (name == "bias") in_.Read(member, where, into.bias);
                     if (name == "samples") in_.Read(member, where, into.samples);
                   });
  }

  void ReadChildWeights(json::Value value) {
    ChildWeighting& into = model_.weighting;
    in_.ReadObject(value, "child_weights", {"mean", "scale", "weights", "bias", "tau"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "mean") in_.Read(member, where, into.standard.mean);
                     if (name == "scale") in_.Read(member, where, into.standard.scale);
                     if (name == "weights") in_.Read(member, where, into.weights);
                     if (name == "bias") in_.Read(member, where, into.bias);
                     if (name == "tau") in_.Read(member, where, into.tau);
                   });
    Require(into.tau > 0, "child_weights.tau", "has to be above 0");
  }

  void ReadIntervals(json::Value value) {
    in_.ReadObject(value, "intervals", {"nominal", "levels"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "nominal") in_.Read(member, where, model_.nominal);
                     if (name == "levels") ReadBands(member, where);
                   });
    Require(model_.nominal > 0 && model_.nominal < 1, "intervals.nominal",
            "has to be between 0 and 1");
  }

  void ReadBands(json::Value value, const std::string& path) {
    in_.ReadObject(value, path, {},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (const auto level = FindDataLevel(name)) {
                       ReadBand(member, where, model_.bands[*level]);
                     }
                   });
  }

  void ReadBand(json::Value value, const std::string& path, ErrorBand& band) {
    in_.ReadObject(value, path, {"low", "high", "nodes"},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "low") in_.Read(member, where, band.low);
                     if (name == "high") in_.Read(member, where, band.high);
                     if (name == "nodes") in_.Read(member, where, band.nodes);
                   });
    Require(band.low >= 0, path + ".low", "has to be from 0");
    Require(band.low <= band.high, path + ".low", "is above high");
  }

  void ReadTrainedOn(json::Value value) {
    EnergyModel::TrainedOn& into = model_.trained_on;
    in_.ReadObject(value, "trained_on", {},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "data") in_.Read(member, where, into.data);
                     if (name == "machine") in_.Read(member, where, into.machine);
                     if (name == "models") in_.Read(member, where, into.models);
                     if (name == "nodes") in_.Read(member, where, into.nodes);
                     if (name == "when") in_.Read(member, where, old_.when);
                     if (name == "tool") in_.Read(member, where, old_.tool);
                     if (name == "held_out_mape") ReadMape(member, where);
                   });
  }

  void ReadProvenance(json::Value value) {
    Provenance& into = model_.provenance;
    in_.ReadObject(value, "provenance", {},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     if (name == "tool") in_.Read(member, where, into.tool);
                     if (name == "version") in_.Read(member, where, into.version);
                     if (name == "build_type") in_.Read(member, where, into.build_type);
                     if (name == "machine") in_.Read(member, where, into.machine);
                     if (name == "sources") in_.Read(member, where, into.sources);
                     if (name == "when") in_.Read(member, where, into.when);
                   });
  }

  void ReadMape(json::Value value, const std::string& path) {
    in_.ReadObject(value, path, {},
                   [&](std::string_view name, const std::string& where, json::Value member) {
                     const auto level = FindDataLevel(name);
                     if (level) in_.Read(member, where, model_.trained_on.mape[*level]);
                   });
  }

  EnergyModel& model_;
  Provenance old_;  // of files without a provenance
  MemberReader in_;
  std::vector<std::string> seen_;
};

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
  ModelReader reader(model);
  const auto ok = json::WalkObject(
      text, name, [&](json::Key key, json::Value value) { reader.ReadMember(key.Text(), value); });
  if (!ok) return ok.error();
  if (const std::string why = reader.Finish(); !why.empty()) return Refused(name, why);
  return model;
}

}  // namespace beryl::learn
