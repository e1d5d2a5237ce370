#include <algorithm>
#include <map>
#include <set>

#include "views/budget.h"
#include "views/described.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {

void WriteContext(JsonWriter& json, const AccountReport& report) {
  const RunContext& context = report.context;
  json.Key("context").BeginObject();
  json.Member("tool", context.tool);
  json.Member("build_type", context.build_type);
  json.Member("machine", context.machine);
  json.Key("run_files").BeginArray();
  for (const std::string& file : context.run_files) json.Value(file);
  json.End();
  json.Key("ops_files").BeginArray();
  for (const std::string& file : context.ops_files) json.Value(file);
  json.End();
  json.Member("power_file", context.power_file);
  json.Member("policy", context.policy);
  json.Member("label", context.label);
  json.Member("energy_source", context.energy_source);
  json.Member("clock_offset_us", static_cast<double>(report.clock_offset.value) * 1e-3);
  json.Member("clock_reason", report.clock_reason);
  json.Member("steps", report.steps);
  json.Key("notes").BeginArray();
  for (const std::string& note : report.notes) json.Value(note);
  json.End();
  json.End();
}

void WriteClosure(JsonWriter& json, const AccountReport& report) {
  json.Key("closure").BeginArray();
  for (const ChannelAccount& account : report.channels) {
    json.BeginObject();
    json.Member("device", account.channel);
    json.Member("total_j", account.total.value);
    json.Member("attributed_j", account.attributed.value);
    json.Member("idle_j", account.idle.value);
    json.Member("unattributed_j", account.unattributed.value);
    json.Member("window_s", (account.window_end - account.window_start).seconds());
    json.Member("outside_trace_j", account.outside_trace.value);
    json.Member("policy", account.policy);
    json.Member("feeds", account.feeds);
    json.Member("within", account.within);
    json.Member("measured_j", account.measured.value);
    json.Member("contained_j", account.contained.value);
    json.Key("static_j")
        .Value(account.static_part ? std::optional<double>(account.static_part->value)
                                   : std::nullopt);
    json.Member("closure_error", account.ClosureError());
    json.Member("readings", account.readings);
    json.Member("uncovered_s", account.uncovered.seconds());
    json.End();
  }
  json.End();
}

namespace {

void WriteOperations(JsonWriter& json, const char* key, const OperationTable& table, bool summary,
                     std::optional<int> top) {
  json.Key(key).BeginArray();
  size_t left = top ? static_cast<size_t>(std::max(0, *top)) : table.size();
  for (const OperationRow& row : table) {
    if (left-- == 0) break;
    json.BeginObject();
    json.Member("name", row.name);
    json.Member("device", row.device);
    json.Member("phase", PhaseName(row.phase));
    json.Member("type", row.type);
    json.Member("energy_j", row.energy);
    json.Member("seconds", row.time);
    json.Member("power_w", row.power);
    json.Member("count", row.count);
    if (row.static_part) json.Member("static_j", row.static_part);
    json.Member("mean_step_j", row.mean_step_energy);
    json.Member("deviation_step_j", row.deviation_step_energy);
    if (!row.shapes.empty()) {
      json.Key("shapes").BeginArray();
      for (const std::string& shapes : row.shapes) json.Value(shapes);
      json.End();
    }
    if (summary) json.Member("layers", row.layers);
    json.End();
  }
  json.End();
}

void WriteRanks(JsonWriter& json, const TreeColumns& tree) {
  json.Key("ranks").BeginArray();
  for (const Column& column : tree.columns) {
    if (column.of != Column::Of::kRank) continue;
    json.BeginObject();
    json.Member("rank", column.label);
    json.Member("energy_j", column.total.front());
    json.End();
  }
  json.End();
}

void WriteFindings(JsonWriter& json, const char* key, Finding::Kind kind,
                   const std::vector<Finding>& findings) {
  json.Key(key).BeginArray();
  for (const Finding& finding : findings) {
    if (finding.kind != kind) continue;
    json.BeginObject();
    json.Member("reason", finding.reason);
    json.Member("count", finding.count);
    json.Member("first_offset", finding.first_offset);
    json.End();
  }
  json.End();
}

void WriteImportBody(JsonWriter& json, const ImportReport& report) {
  json.Member("file", report.file);
  json.Member("format", report.format);
  json.Member("events", report.events);
  json.Member("operations", report.operations);
  WriteFindings(json, "dropped", Finding::Kind::kDropped, report.findings);
  WriteFindings(json, "skipped", Finding::Kind::kSkipped, report.findings);
  WriteFindings(json, "repaired", Finding::Kind::kRepaired, report.findings);
  json.Key("launches").BeginObject();
  json.Member("device_events", report.device_events);
  json.Member("with_correlation", report.with_correlation);
  json.Member("tied", report.tied);
  json.End();
  json.Key("modules").BeginObject();
  json.Member("operations_inside", report.inside_modules);
  json.Member("operations_outside", report.outside_modules);
  json.End();
}

// All files added up; offsets are those of the first file that has the finding.
void WriteImport(JsonWriter& json, const std::vector<ImportReport>& reports) {
  ImportReport all;
  std::set<std::string> formats;
  for (const ImportReport& report : reports) {
    formats.insert(report.format);
    all.file = reports.size() == 1 ? report.file : "";
    all.format = formats.size() == 1 ? report.format : "several";
    all.events += report.events;
    all.operations += report.operations;
    all.device_events += report.device_events;
    all.with_correlation += report.with_correlation;
    all.tied += report.tied;
    all.inside_modules += report.inside_modules;
    all.outside_modules += report.outside_modules;
    for (const Finding& finding : report.findings) {
      auto same = std::find_if(all.findings.begin(), all.findings.end(), [&](const Finding& known) {
        return known.kind == finding.kind && known.reason == finding.reason;
      });
      if (same == all.findings.end()) {
        all.findings.push_back(finding);
      } else {
        same->count += finding.count;
      }
    }
  }
  json.Key("import").BeginObject();
  WriteImportBody(json, all);
  if (reports.size() > 1) {
    json.Key("files").BeginArray();
    for (const ImportReport& report : reports) {
      json.BeginObject();
      WriteImportBody(json, report);
      json.End();
    }
    json.End();
  }
  json.End();
}

void WriteAlignment(JsonWriter& json, const ModelAlignment& alignment) {
  json.Key("alignment").BeginObject();
  json.Member("model", alignment.model);
  json.Member("described_modules", alignment.described_modules);
  json.Member("matched_modules", alignment.matched_modules);
  json.Member("module_energy_j", alignment.module_energy);
  json.Member("matched_energy_j", alignment.matched_energy);
  json.Key("unmatched").BeginArray();
  for (const ModelAlignment::Unmatched& one : alignment.unmatched) {
    json.BeginObject();
    json.Member("path", one.path);
    json.Member("energy_j", one.energy);
    json.End();
  }
  json.End();
  WriteSentences(json, "not_found", alignment.not_found);
  json.Member("passes", alignment.passes);
  json.Member("input_seen", alignment.input_seen);
  json.Key("input").BeginObject();
  WriteSizes(json, alignment.input);
  json.End();
  WriteSentences(json, "assumptions", alignment.assumptions);
  WriteSentences(json, "notes", alignment.notes);
  json.End();
}

}  // namespace

void WriteSteps(JsonWriter& json, const Timeline& timeline) {
  json.Key("steps").BeginArray();
  for (const RunStep& step : timeline.steps) {
    json.BeginObject();
    json.Member("name", step.name);
    json.Member("start_s", (step.start - timeline.start).seconds());
    json.Member("end_s", (step.end - timeline.start).seconds());
    json.End();
  }
  json.End();
}

void WriteAccountObject(JsonWriter& json, const AccountReport& report, const TreeColumns& tree,
                        const ViewOptions& options) {
  json.BeginObject();
  json.Member("schema", "beryl.account/1");
  WriteContext(json, report);
  WriteClosure(json, report);
  WriteRanks(json, tree);
  WriteOperations(json, "operations", report.operations, false, options.top);
  json.Member("operations_total", report.operations.size());
  WriteOperations(json, "summary", report.summary, true, options.top);
  json.Member("summary_total", report.summary.size());
  WriteTree(json.Key("tree"), tree, options, "total_j");
  if (report.alignment) WriteAlignment(json, *report.alignment);
  WriteImport(json, report.imports);
  if (!report.budget.empty()) WriteBudget(json, report.budget);
  json.End();
}

std::string WriteJson(const AccountReport& report, const ViewOptions& options) {
  JsonWriter json;
  WriteAccountObject(json, report, report.tree, options);
  return json.Take() + "\n";
}

}  // namespace beryl::views
