// What several results write, and the formats of an account.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "views/text/figures.h"
#include "views/views.h"

namespace beryl::views {

std::string WriteTable(const AccountReport& report, const ViewOptions& options);
// The lines above and below every table of a run: what was read, and how the energy adds up. The
// summary has both, and how well the run matches a model.
std::string WriteSummary(const AccountReport& report, const ViewOptions& options);
std::string WriteHead(const AccountReport& report, const ViewOptions& options);
std::string WriteBalances(const AccountReport& report, const ViewOptions& options);
std::string WriteCsv(const AccountReport& report, const ViewOptions& options);
std::string WriteJson(const AccountReport& report, const ViewOptions& options);
std::string WriteHtml(const AccountReport& report, const ViewOptions& options);

// A result in the usual formats, each by its function.
template <typename Result>
std::string WriteUsual(const Result& result, Format format, const ViewOptions& options,
                       std::string (*json)(const Result&), std::string (*csv)(const Result&),
                       std::string (*table)(const Result&, const ViewOptions&)) {
  if (format == Format::kJson) return json(result);
  return format == Format::kCsv ? csv(result) : table(result, options);
}

// Begins and ends the JSON object of a result. It starts with schema and provenance; EndResult ends
// the line.
void BeginResult(JsonWriter& json, std::string_view schema, const Provenance& provenance);
std::string EndResult(JsonWriter& json);
// Ends it with the tool that made it, and with its notes before that.
std::string EndResult(JsonWriter& json, const Provenance& provenance);
std::string EndResult(JsonWriter& json, const std::vector<Note>& notes,
                      const Provenance& provenance);
// Ends a page of a list with the token of the next one, null if nothing follows.
std::string EndPage(JsonWriter& json, const std::string& next_token);
// A result about a run: its context, closure and notes come first.
void BeginRunResult(JsonWriter& json, std::string_view schema, const AccountReport& report);
// An object with a value for each phase.
template <typename Values>
void WritePhases(JsonWriter& json, std::string_view key, const Values& values) {
  json.Key(key).BeginObject();
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    json.Member(PhaseName(static_cast<Phase>(phase)), values[phase]);
  }
  json.End();
}

// The "beryl.account/1" object, with the given tree in it.
void WriteAccountObject(JsonWriter& json, const AccountReport& report, const TreeColumns& tree,
                        const ViewOptions& options);

// The members of every JSON result about its run.
void WriteContext(JsonWriter& json, const AccountReport& report);
void WriteClosure(JsonWriter& json, const AccountReport& report);

// What was measured of an operation.
void WriteMeasures(JsonWriter& json, const OperationRow& row);

// "steps": of a timeline, in seconds from its start.
void WriteSteps(JsonWriter& json, const Timeline& timeline);

}  // namespace beryl::views
