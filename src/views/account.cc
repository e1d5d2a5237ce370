// A run and its energy as JSON and as CSV.
#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/budget.h"
#include "views/described.h"
#include "views/text/csv_table.h"
#include "views/text/notes.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {

void BeginResult(JsonWriter& json, std::string_view schema, const Provenance& provenance) {
  json.BeginObject().Member("schema", schema);
  WriteProvenance(json, provenance, IncompleteTexts(provenance));
}

std::string EndResult(JsonWriter& json) { return json.End().Take() + "\n"; }

std::string EndResult(JsonWriter& json, const Provenance& provenance) {
  json.Member("tool", ToolText(provenance));
  return EndResult(json);
}

std::string EndPage(JsonWriter& json, const std::string& next_token) {
  json.Member("next_page_token", next_token.empty() ? std::nullopt : std::optional(next_token));
  return EndResult(json);
}

std::string EndResult(JsonWriter& json, const std::vector<Note>& notes,
                      const Provenance& provenance) {
  WriteNotes(json, notes);
  return EndResult(json, provenance);
}

void BeginRunResult(JsonWriter& json, std::string_view schema, const AccountReport& report) {
  BeginResult(json, schema, report.provenance);
  WriteContext(json, report);
  WriteClosure(json, report);
  WriteNotes(json, NotesOf(report));
}

void WriteContext(JsonWriter& json, const AccountReport& report) {
  const RunContext& context = report.context;
  json.Key("context").BeginObject();
  json.Member("tool", ToolText(report.provenance));
  json.Member("build_type", report.provenance.build_type);
  json.Member("machine", report.provenance.machine).Member("run_files", context.run_files);
  json.Member("ops_files", context.ops_files);
  json.Member("power_file", fmt::format("{}", fmt::join(context.power_files, ", ")));
  json.Member("policy", context.policy).Member("label", context.label);
  json.Member("energy_source", context.energy_source);
  json.Member("clock_offset_us", static_cast<double>(report.clock_offset.value) * 1e-3);
  json.Member("clock_reason", report.clock_reason).Member("steps", report.steps);
  WriteNoteTexts(json, "notes", report.notes);
  json.End();
}

void WriteClosure(JsonWriter& json, const AccountReport& report) {
  json.Objects("closure", report.channels, [&](const ChannelAccount& account) {
    json.Member("device", account.channel).Member("total_j", account.total.value);
    json.Member("attributed_j", account.attributed.value).Member("idle_j", account.idle.value);
    json.Member("unattributed_j", account.unattributed.value);
    json.Member("window_s", (account.window_end - account.window_start).seconds());
    json.Member("outside_trace_j", account.outside_trace.value).Member("policy", account.policy);
    json.Member("feeds", account.feeds).Member("within", account.within);
    json.Member("measured_j", account.measured.value);
    json.Member("contained_j", account.contained.value);
    json.Member("static_j", account.static_part ? account.static_part->value : kUnknown);
    json.Member("closure_error", account.ClosureError()).Member("readings", account.readings);
    json.Member("uncovered_s", account.uncovered.seconds());
  });
}

void WriteMeasures(JsonWriter& json, const OperationRow& row) {
  json.Member("energy_j", row.energy).Member("seconds", row.time).Member("power_w", row.power);
  json.Member("count", row.count);
  if (row.static_part) json.Member("static_j", row.static_part);
  json.Member("mean_step_j", row.mean_step_energy);
  json.Member("deviation_step_j", row.deviation_step_energy);
}

namespace {

void WriteOperations(JsonWriter& json, const char* key, const OperationTable& table, bool summary,
                     std::optional<int> top) {
  const std::span rows(table);
  json.Objects(key, top ? rows.first(CountShown(table.size(), *top)) : rows,
               [&](const OperationRow& row) {
                 json.Member("name", row.name).Member("device", row.device);
                 json.Member("phase", PhaseName(row.phase)).Member("type", row.type);
                 WriteMeasures(json, row);
                 if (!row.shapes.empty()) json.Member("shapes", row.shapes);
                 if (summary) json.Member("layers", row.layers);
               });
}

void WriteRanks(JsonWriter& json, const TreeColumns& tree) {
  json.Key("ranks").BeginArray();
  for (const Column& column : tree.columns) {
    if (column.of != Column::Of::kRank) continue;
    json.BeginObject().Member("rank", column.label);
    json.Member("energy_j", column.total.front()).End();
  }
  json.End();
}

// "dropped", "skipped", "repaired".
void WriteNotTaken(JsonWriter& json, NoteClass of, const std::vector<Note>& notes) {
  json.Key(NoteClassName(of)).BeginArray();
  for (const Note& note : notes) {
    if (ClassOf(note.kind) != of) continue;
    json.BeginObject();
    json.Member("reason", NoteWords(note)).Member("count", note.count);
    json.Member("first_offset", note.first_byte.value_or(0));
    json.End();
  }
  json.End();
}

void WriteImportBody(JsonWriter& json, const ImportReport& report) {
  json.Member("file", report.file).Member("format", report.format).Member("events", report.events);
  json.Member("operations", report.operations);
  for (const NoteClass of : {NoteClass::kDropped, NoteClass::kSkipped, NoteClass::kRepaired}) {
    WriteNotTaken(json, of, report.notes);
  }
  json.Key("launches").BeginObject();
  json.Member("device_events", report.device_events);
  json.Member("with_correlation", report.with_correlation).Member("tied", report.tied);
  json.End();
  json.Key("modules").BeginObject();
  json.Member("operations_inside", report.inside_modules);
  json.Member("operations_outside", report.outside_modules);
  json.End();
}

// The sum over all files; offsets are those of the first file with the note.
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
    for (const Note& note : report.notes) {
      const auto same = std::find_if(all.notes.begin(), all.notes.end(), [&](const Note& known) {
        return known.kind == note.kind && known.subject == note.subject &&
               known.values == note.values;
      });
      if (same == all.notes.end()) {
        all.notes.push_back(note);
      } else {
        same->count += note.count;
      }
    }
  }
  json.Key("import").BeginObject();
  WriteImportBody(json, all);
  if (reports.size() > 1) {
    json.Objects("files", reports,
                 [&](const ImportReport& report) { WriteImportBody(json, report); });
  }
  json.End();
}

void WriteAlignment(JsonWriter& json, const ModelAlignment& alignment) {
  json.Key("alignment").BeginObject();
  json.Member("model", alignment.model).Member("described_modules", alignment.described_modules);
  json.Member("matched_modules", alignment.matched_modules);
  json.Member("module_energy_j", alignment.module_energy);
  json.Member("matched_energy_j", alignment.matched_energy);
  json.Objects("unmatched", alignment.unmatched, [&](const ModelAlignment::Unmatched& one) {
    json.Member("path", one.path).Member("energy_j", one.energy);
  });
  json.Member("not_found", alignment.not_found).Member("passes", alignment.passes);
  json.Member("input_seen", alignment.input_seen);
  json.Member("dtype", DtypeName(alignment.dtype)).Member("dtype_seen", alignment.dtype_seen);
  json.Key("input").BeginObject();
  WriteSizes(json, alignment.input);
  json.End();
  std::vector<Note> notes = alignment.notes;
  const auto told = std::stable_partition(notes.begin(), notes.end(), [](const Note& note) {
    return ClassOf(note.kind) == NoteClass::kAssumed;
  });
  WriteNoteTexts(json, "assumptions", std::vector<Note>(notes.begin(), told));
  WriteNoteTexts(json, "notes", std::vector<Note>(told, notes.end()));
  json.End();
}

}  // namespace

void WriteSteps(JsonWriter& json, const Timeline& timeline) {
  json.Objects("steps", timeline.steps, [&](const RunStep& step) {
    json.Member("name", step.name).Member("start_s", (step.start - timeline.start).seconds());
    json.Member("end_s", (step.end - timeline.start).seconds());
  });
}

void WriteAccountObject(JsonWriter& json, const AccountReport& report, const TreeColumns& tree,
                        const ViewOptions& options) {
  BeginResult(json, "beryl.account/1", report.provenance);
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
  WriteNotes(json, NotesOf(report));
  json.End();
}

std::string WriteJson(const AccountReport& report, const ViewOptions& options) {
  JsonWriter json;
  WriteAccountObject(json, report, options.fold ? report.folded : report.tree, options);
  return json.Take() + "\n";
}

std::string WriteCsv(const AccountReport& report, const ViewOptions& options) {
  // Options about the tree, or a model's names, mean that the user wants the tree.
  if (options.depth || options.level || options.fold || !options.columns.empty() ||
      report.alignment) {
    return TreeCsv(options.fold ? report.folded : report.tree, options, {}, {},
                   CsvTable("beryl.account/1", report.provenance));
  }
  CsvTable csv("beryl.account/1", report.provenance,
               "name,device,phase,type,energy_j,seconds,power_w,count,mean_step_j,deviation_step_j,"
               "source");
  size_t left =
      options.top ? static_cast<size_t>(std::max(0, *options.top)) : report.operations.size();
  for (const OperationRow& row : report.operations) {
    if (left-- == 0) break;
    csv.Row(row.name, row.device, PhaseName(row.phase), row.type, row.energy, row.time, row.power,
            row.count, row.mean_step_energy, row.deviation_step_energy,
            row.energy ? OriginName(row.origin) : "unknown");
  }
  return csv.Take();
}

}  // namespace beryl::views
