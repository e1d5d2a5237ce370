// What is in a library: as a table, JSON and CSV.
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "types/library_json.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kGarbageSchema = "beryl.library-gc/1";
constexpr const char* kCheckSchema = "beryl.library-verify/1";

constexpr std::array<std::string_view, 6> kProblemNames = {"database", "missing", "size",
                                                           "content",  "unread",  "dangling"};
std::string_view NameOf(LibraryProblem::Kind kind) {
  return kProblemNames[static_cast<size_t>(kind)];
}

std::string EnergyText(const LibraryEntry& entry) {
  const auto& energy = entry.figures.energy_j;
  return energy ? FormatJoules(*energy) : "-";
}

// The origin of its energy.
std::string OriginText(const LibraryEntry& entry) {
  return std::string(entry.origin ? OriginName(*entry.origin) : "-");
}

// "2026-11-18 01:32"
std::string MinuteText(Nanos time) {
  std::string text = TimeText(time).substr(0, 16);
  text[10] = ' ';
  return text;
}

std::string TagsText(const LibraryEntry& entry) {
  return fmt::format("{}", fmt::join(entry.tags, " "));
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(count), count == 1 ? one : many);
}

std::string Files(uint64_t files, uint64_t bytes) {
  return fmt::format("{} ({})", Counted(files, "file", "files"), FormatBytes(bytes));
}

std::string Table(const EntryList& list, const ViewOptions& options) {
  TextPage page(options);
  const auto& entries = list.page.entries;
  const int name = Widest(entries, 4, [](const auto& entry) { return entry.name; });
  const int model = Widest(entries, 5, [](const auto& entry) { return entry.model; });
  const std::vector<int> widths = {-18, -18, -11, -name - 2, 10, -2, -13, -model - 2, -30};
  page.Line(page.Dim(Cells(
      widths, {"id", "added (UTC)", "kind", "name", "energy", "", "origin", "model", "tags"})));
  for (const LibraryEntry& entry : entries) {
    page.TrimmedLine(Cells(
        widths, {entry.id, MinuteText(entry.created), EntryKindName(entry.kind),
                 Printable(entry.name), EnergyText(entry), "", OriginText(entry),
                 entry.model.empty() ? "-" : Printable(entry.model), Printable(TagsText(entry))}));
  }
  page.Line();
  std::string said = Counted(entries.size(), "entry", "entries");
  if (!list.page.next_token.empty()) {
    page.SmallPrint("more follow; the page after this one has the token " + list.page.next_token);
  }
  page.Foot(said, list.provenance);
  return page.Take();
}

std::string Json(const EntryList& list) {
  JsonWriter json;
  BeginResult(json, kListSchema, list.provenance);
  json.Objects("entries", list.page.entries,
               [&](const LibraryEntry& entry) { WriteEntryMembers(json, entry); });
  return EndPage(json, list.page.next_token);
}

std::string Csv(const EntryList& list) {
  CsvTable csv(kListSchema, list.provenance,
               "id,kind,form,name,tags,notes,created,model,machine,profile,origin,bytes,files"
#define BERYL_ENTRY_FIGURE(name) "," #name
               BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
  );
  for (const LibraryEntry& entry : list.page.entries) {
    csv.Field(entry.id).Field(EntryKindName(entry.kind));
    csv.Field(entry.form ? RunFormName(*entry.form) : "").Field(entry.name).Field(TagsText(entry));
    csv.Field(entry.notes).Field(TimeText(entry.created)).Field(entry.model).Field(entry.machine);
    csv.Field(entry.profile).Field(entry.origin ? OriginName(*entry.origin) : "");
    csv.Field(entry.bytes()).Field(entry.files.size());
#define BERYL_ENTRY_FIGURE(name) csv.Field(entry.figures.name);
    BERYL_ENTRY_FIGURES(BERYL_ENTRY_FIGURE)
#undef BERYL_ENTRY_FIGURE
    csv.EndRow();
  }
  return csv.Take();
}

// The figures of a result in one row, or one object, or in words.
using Figures = std::vector<std::pair<std::string_view, uint64_t>>;

std::string CsvOf(std::string_view schema, const Provenance& provenance, const Figures& figures) {
  std::vector<std::string_view> names;
  for (const auto& figure : figures) names.push_back(figure.first);
  CsvTable csv(schema, provenance, fmt::format("{}", fmt::join(names, ",")));
  for (const auto& figure : figures) csv.Field(figure.second);
  csv.EndRow();
  return csv.Take();
}

Figures FiguresOf(const LibraryGarbage& garbage) {
  return {{"files", garbage.files},
          {"bytes", garbage.bytes},
          {"jobs", garbage.jobs},
          {"kept_files", garbage.kept_files},
          {"kept_bytes", garbage.kept_bytes}};
}

Figures FiguresOf(const LibraryCheck& check) {
  const LibraryCounts& counts = check.counts;
  return {{"runs", counts.runs},
          {"predictions", counts.predictions},
          {"profiles", counts.profiles},
          {"datasets", counts.datasets},
          {"jobs", counts.queued + counts.running + counts.done + counts.failed + counts.cancelled},
          {"files", counts.files},
          {"bytes", counts.file_bytes},
          {"unnamed_files", check.unnamed_files},
          {"unnamed_bytes", check.unnamed_bytes}};
}

}  // namespace

std::string Write(const EntryList& list, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(list);
  if (format == Format::kCsv) return Csv(list);
  return Table(list, options);
}

std::string Write(const LibraryGarbage& garbage, Format format, const ViewOptions& options) {
  if (format == Format::kCsv) return CsvOf(kGarbageSchema, garbage.provenance, FiguresOf(garbage));
  if (format == Format::kJson) {
    JsonWriter json;
    BeginResult(json, kGarbageSchema, garbage.provenance);
    for (const auto& [name, figure] : FiguresOf(garbage)) json.Member(name, figure);
    return EndResult(json);
  }
  TextPage page(options);
  page.Line(fmt::format("removed {} that nothing names, and {} that ended long ago",
                        Files(garbage.files, garbage.bytes), Counted(garbage.jobs, "job", "jobs")));
  if (garbage.kept_files > 0) {
    page.Line(fmt::format("left {} that nothing names yet: too young",
                          Files(garbage.kept_files, garbage.kept_bytes)));
  }
  page.Foot("", garbage.provenance);
  return page.Take();
}

std::string Write(const LibraryCheck& check, Format format, const ViewOptions& options) {
  if (format == Format::kCsv) {
    CsvTable csv(kCheckSchema, check.provenance, "problem,subject,detail");
    for (const LibraryProblem& problem : check.problems) {
      csv.Row(NameOf(problem.kind), problem.subject, problem.detail);
    }
    return csv.Take();
  }
  if (format == Format::kJson) {
    JsonWriter json;
    BeginResult(json, kCheckSchema, check.provenance);
    for (const auto& [name, figure] : FiguresOf(check)) json.Member(name, figure);
    json.Objects("problems", check.problems, [&](const LibraryProblem& problem) {
      json.Member("kind", NameOf(problem.kind)).Member("subject", problem.subject);
      json.Member("detail", problem.detail);
    });
    return EndResult(json);
  }
  TextPage page(options);
  const LibraryCounts& counts = check.counts;
  page.Line(fmt::format("{}, {}, {}, {}", Counted(counts.runs, "run", "runs"),
                        Counted(counts.predictions, "prediction", "predictions"),
                        Counted(counts.profiles, "profile", "profiles"),
                        Counted(counts.datasets, "data set", "data sets")));
  page.Line(fmt::format("{}, every byte read", Files(counts.files, counts.file_bytes)));
  if (check.unnamed_files > 0) {
    page.Line(fmt::format("{} that nothing names: garbage to collect",
                          Files(check.unnamed_files, check.unnamed_bytes)));
  }
  for (const LibraryProblem& problem : check.problems) {
    page.Paragraph(fmt::format("{}: {}: {}", NameOf(problem.kind), Printable(problem.subject),
                               Printable(problem.detail)),
                   0, kFailureStyle);
  }
  page.Line(check.problems.empty()
                ? "nothing is wrong"
                : Counted(check.problems.size(), "thing is wrong", "things are wrong"));
  page.Foot("", check.provenance);
  return page.Take();
}

}  // namespace beryl::views
