// Provenance: the stamp on every result, in whatever format it goes out, so that it can be traced
// by someone who was not there.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"

namespace beryl {

struct Provenance {
  std::string tool;        // "beryl"
  std::string version;     // "0.1.0"
  std::string build_type;  // "Release"
  std::string machine;     // where the result was made, which need not be where anything ran
  std::vector<std::string> sources;  // the files, meters, models and data sets that went in
  std::string profile;               // that predicted; several are joined by commas; empty: none
  std::string when;                  // it was made: "2026-11-18T01:32:48Z"
};

// Of a result that this program makes now, here. Each source counts once, one without a name not.
Provenance MakeProvenance(std::vector<std::string> sources, std::string profile = {});

// "beryl 0.1.0"
std::string ToolText(const Provenance& provenance);
// All but the kind of build, in a line: "beryl 0.1.0; Linux 6.1.0 x86_64, 8 CPUs; from ops.json,
// power.csv; profile h100-sxm; 2026-11-18T01:32:48Z".
std::string StampText(const Provenance& provenance);
// The member "provenance" of a JSON object.
void WriteProvenance(JsonWriter& json, const Provenance& provenance);

}  // namespace beryl
