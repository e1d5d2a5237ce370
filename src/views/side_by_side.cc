// Runs, predictions and descriptions beside each other: as a table, JSON and CSV.
#include <fmt/format.h>

#include "base/text.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.side-by-side/1";

std::string Table(const SideBySide& set, const ViewOptions& options) {
  TextPage page(options);
  page.Incomplete(set.provenance);
  for (const SideBySide::Side& side : set.sides) {
    page.Paragraph(fmt::format("{}: {}", Printable(side.label), Printable(side.what)));
  }
  page.Line();
  TableLook look;
  for (const Column& column : set.tree.columns) look.columns.push_back(column.name);
  look.deepest = Level::kMl;
  std::string text = page.Take() + TreeTable(set.tree, look, options);
  page.Notes(set.notes);
  page.Foot("", set.provenance);
  return text + page.Take();
}

std::string Json(const SideBySide& set, const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, set.provenance);
  json.Objects("sides", set.sides, [&](const SideBySide::Side& side) {
    json.Member("label", side.label).Member("what", side.what);
  });
  WriteTree(json.Key("tree"), set.tree, options);
  return EndResult(json, set.notes, set.provenance);
}

}  // namespace

std::string Write(const SideBySide& set, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(set, options);
  if (format == Format::kCsv) return TreeCsv(set.tree, options, {}, {}, {kSchema, set.provenance});
  return Table(set, options);
}

}  // namespace beryl::views
