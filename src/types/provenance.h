// Provenance: the stamp on every result, in every format, so that it can be traced later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "types/note.h"
#include "types/time_window.h"

namespace beryl {

// Whose energy a result shares out.
enum class EnergyOf : uint8_t {
  kMachine,  // all that the meters read, whoever used it
  kOurs,     // what the watched processes used
  kMixed,    // what the watched processes used; all of it where a meter's users are unknown
};
std::string_view EnergyOfName(EnergyOf whose);  // "machine": in JSON

struct Provenance {
  std::string tool;        // "beryl"
  std::string version;     // "0.1.0"
  std::string build_type;  // "Release"
  std::string machine;     // where the result was made; the run may be from another machine
  std::vector<std::string> sources;  // the files, meters, models and data sets that went in
  std::string profile;               // that predicted; several are joined by commas; empty: none
  // Nothing: there was no choice, because no recording says who used the machine.
  std::optional<EnergyOf> energy_of;
  std::string when;  // time of making: "2026-11-18T01:32:48Z"
  // What says that part of the input is missing; every format shows it first.
  std::vector<Note> incomplete = {};
  std::optional<TimeWindow> window = {};  // nothing: the whole run
};

// The stamp of a result made here and now. Drops duplicate and empty sources.
Provenance MakeProvenance(std::vector<std::string> sources, std::string profile = {});

// "beryl 0.1.0"
std::string ToolText(const Provenance& provenance);
// Everything but the build type, in one line: "beryl 0.1.0; Linux 6.1.0 x86_64, 8 CPUs; from
// ops.json, power.csv; profile h100-sxm; 2026-11-18T01:32:48Z".
std::string StampText(const Provenance& provenance);
// Keeps those of `notes` that say that input is incomplete, once each. `source`: the file or run
// that they are about, if they do not say.
void AddIncomplete(const std::vector<Note>& notes, const std::string& source,
                   Provenance& provenance);
// Writes the member "provenance" of a JSON object. `incomplete`: its notes in words.
void WriteProvenance(JsonWriter& json, const Provenance& provenance,
                     const std::vector<std::string>& incomplete = {});

}  // namespace beryl
