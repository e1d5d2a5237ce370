#include "types/provenance.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/this_machine.h"
#include "version.h"

namespace beryl {

std::string_view EnergyOfName(EnergyOf whose) {
  constexpr std::array<std::string_view, 3> kNames = {"machine", "ours", "mixed"};
  return kNames[static_cast<size_t>(whose)];
}

namespace {

std::string EnergyOfText(const std::optional<EnergyOf>& whose) {
  constexpr std::array<const char*, 3> kTexts = {
      "energy of the whole machine", "energy of the watched processes",
      "energy of the watched processes, where it is told apart"};
  return whose ? kTexts[static_cast<size_t>(*whose)] : "";
}

}  // namespace

Provenance MakeProvenance(std::vector<std::string> sources, std::string profile) {
  std::vector<std::string> once;
  for (std::string& source : sources) {
    const bool known = std::find(once.begin(), once.end(), source) != once.end();
    if (!source.empty() && !known) once.push_back(std::move(source));
  }
  return {"beryl",
          std::string(kVersion),
          std::string(kBuildType),
          MachineName(),
          std::move(once),
          std::move(profile),
          std::nullopt,
          TimeNow(),
          {},
          {}};
}

void AddIncomplete(const std::vector<Note>& notes, const std::string& source,
                   Provenance& provenance) {
  for (Note note : notes) {
    if (!SaysIncomplete(note.kind)) continue;
    if (note.source.empty() && note.subject != source) note.source = source;
    std::vector<Note>& known = provenance.incomplete;
    if (std::find(known.begin(), known.end(), note) == known.end()) known.push_back(note);
  }
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
  add("only ", provenance.window ? WindowText(*provenance.window) : "");
  add("profile ", provenance.profile);
  add("", EnergyOfText(provenance.energy_of));
  add("", provenance.when);
  return text;
}

void WriteProvenance(JsonWriter& json, const Provenance& provenance,
                     const std::vector<std::string>& incomplete) {
  json.Key("provenance").BeginObject();
  if (!incomplete.empty()) {
    json.Key("incomplete").BeginArray();
    for (const std::string& sentence : incomplete) json.Value(sentence);
    json.End();
  }
  json.Member("tool", provenance.tool);
  json.Member("version", provenance.version);
  json.Member("build_type", provenance.build_type);
  json.Member("machine", provenance.machine);
  json.Key("sources").BeginArray();
  for (const std::string& source : provenance.sources) json.Value(source);
  json.End();
  json.Member("profile",
              provenance.profile.empty() ? std::nullopt : std::optional(provenance.profile));
  if (provenance.energy_of) json.Member("energy_of", EnergyOfName(*provenance.energy_of));
  if (provenance.window) WriteWindow(json, *provenance.window);
  json.Member("when", provenance.when);
  json.End();
}

}  // namespace beryl
