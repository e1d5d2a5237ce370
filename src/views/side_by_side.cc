// Runs, predictions and descriptions beside each other: as a table, JSON and CSV.
#include <fmt/format.h>

#include "base/text.h"
#include "views/described.h"
#include "views/text_page.h"
#include "views/tree_view.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.side-by-side/1";

std::string Table(const SideBySide& set, const ViewOptions& options) {
  TextPage page(options);
  for (const SideBySide::Side& side : set.sides) {
    page.Paragraph(fmt::format("{}: {}", Printable(side.label), Printable(side.what)));
  }
  page.Line();
  TableLook look;
  for (const Column& column : set.tree.columns) look.columns.push_back(column.name);
  look.deepest = Level::kMl;
  std::string text = page.Take() + TreeTable(set.tree, look, options);
  page.Notes(set.notes);
  page.Paragraph(set.tool, 0, kDimStyle);
  return text + page.Take();
}

std::string Json(const SideBySide& set, const ViewOptions& options) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  json.Key("sides").BeginArray();
  for (const SideBySide::Side& side : set.sides) {
    json.BeginObject();
    json.Member("label", side.label);
    json.Member("what", side.what);
    json.End();
  }
  json.End();
  WriteTree(json.Key("tree"), set.tree, options);
  WriteNotes(json, set.notes);
  json.Member("tool", set.tool);
  json.End();
  return json.Take() + "\n";
}

}  // namespace

std::string Write(const SideBySide& set, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(set, options);
  if (format == Format::kCsv) return TreeCsv(set.tree, options, {}, {{"schema", kSchema}});
  return Table(set, options);
}

}  // namespace beryl::views
