#include "types/provenance.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/this_machine.h"
#include "version.h"

namespace beryl {

Provenance MakeProvenance(std::vector<std::string> sources, std::string profile) {
  std::vector<std::string> once;
  for (std::string& source : sources) {
    const bool known = std::find(once.begin(), once.end(), source) != once.end();
    if (!source.empty() && !known) once.push_back(std::move(source));
  }
  return {"beryl",       std::string(kVersion), std::string(kBuildType),
          MachineName(), std::move(once),       std::move(profile),
          TimeNow()};
}

std::string ToolText(const Provenance& provenance) {
  return provenance.tool + (provenance.version.empty() ? "" : " " + provenance.version);
}

std::string StampText(const Provenance& provenance) {
  std::string text = ToolText(provenance);
  const auto add = [&](std::string_view before, const std::string& part) {
    if (!part.empty()) text.append("; ").append(before).append(part);
  };
  add("", provenance.machine);
  std::string sources;
  for (const std::string& source : provenance.sources) {
    sources += (sources.empty() ? "" : ", ") + source;
  }
  add("from ", sources);
  add("profile ", provenance.profile);
  add("", provenance.when);
  return text;
}

void WriteProvenance(JsonWriter& json, const Provenance& provenance) {
  json.Key("provenance").BeginObject();
  json.Member("tool", provenance.tool);
  json.Member("version", provenance.version);
  json.Member("build_type", provenance.build_type);
  json.Member("machine", provenance.machine);
  json.Key("sources").BeginArray();
  for (const std::string& source : provenance.sources) json.Value(source);
  json.End();
  json.Member("profile",
              provenance.profile.empty() ? std::nullopt : std::optional(provenance.profile));
  json.Member("when", provenance.when);
  json.End();
}

}  // namespace beryl
