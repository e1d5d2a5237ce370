// The formats behind the front door.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "views/figures.h"
#include "views/views.h"

namespace beryl::views {

std::string WriteTable(const AccountReport& report, const ViewOptions& options);
// What stands around every table of a run, and alone is its summary: what was read, and how it adds
// up.
std::string WriteHead(const AccountReport& report, const ViewOptions& options);
std::string WriteBooks(const AccountReport& report, const ViewOptions& options);
std::string WriteCsv(const AccountReport& report, const ViewOptions& options);
std::string WriteJson(const AccountReport& report, const ViewOptions& options);
std::string WriteHtml(const AccountReport& report, const ViewOptions& options);

// The object that a result is: it begins with schema and provenance, and ends with the line.
void BeginResult(JsonWriter& json, std::string_view schema, const Provenance& provenance);
std::string EndResult(JsonWriter& json);

// The "beryl.account/1" object, with the given tree in it.
void WriteAccountObject(JsonWriter& json, const AccountReport& report, const TreeColumns& tree,
                        const ViewOptions& options);

// What every JSON result says of the run it was made from.
void WriteContext(JsonWriter& json, const AccountReport& report);
void WriteClosure(JsonWriter& json, const AccountReport& report);

// What was measured of an operation.
void WriteMeasures(JsonWriter& json, const OperationRow& row);

// "steps": of a timeline, in seconds from its start.
void WriteSteps(JsonWriter& json, const Timeline& timeline);

}  // namespace beryl::views
