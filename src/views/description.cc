// What a model is made of and what running it takes: as a table, JSON and CSV.
#include <fmt/format.h>

#include "views/described.h"
#include "views/text_page.h"
#include "views/tree_view.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.describe/2";

std::string Table(const Description& description, const TreeColumns& folded,
                  const ViewOptions& options) {
  TextPage page(options);
  page.Paragraph(page.Bold(TitleOf(description)));
  page.Paragraph(WorkText(description));
  page.Line();
  TableLook look;
  look.columns = {"flops", "matmul_share", "bytes", "flops_per_byte", "parameters", "bytes_sent"};
  look.texts = {"outputs"};
  look.deepest = Level::kMl;
  std::string text = page.Take() + TreeTable(folded, look, options);
  page.Notes(description.notes);
  page.Foot("worked out from the configuration alone", description.provenance);
  return text + page.Take();
}

std::string Json(const Description& description, const TreeColumns& tree,
                 const ViewOptions& options) {
  JsonWriter json;
  BeginResult(json, kSchema, description.provenance);
  WriteModel(json, description);
  WriteTree(json.Key("tree"), tree, options);
  WriteNotes(json, description.notes);
  json.Member("tool", ToolText(description.provenance));
  return EndResult(json);
}

std::string Csv(const Description& description, const TreeColumns& tree,
                const ViewOptions& options) {
  return TreeCsv(tree, options, {{"model", description.model}}, InputFields(description),
                 {kSchema, description.provenance});
}

}  // namespace

std::string Write(const Description& description, const ShownTree& tree, Format format,
                  const ViewOptions& options) {
  if (format == Format::kJson) return Json(description, tree.whole, options);
  if (format == Format::kCsv) return Csv(description, tree.whole, options);
  return Table(description, tree.folded, options);
}

}  // namespace beryl::views
