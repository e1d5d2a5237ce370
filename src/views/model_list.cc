// The models of the catalog: as a table, JSON and CSV.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/csv_table.h"
#include "views/described.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.models/1";

std::string Table(const ModelList& models, const ViewOptions& options) {
  TextPage page(options);
  int name = 5;
  int family = 6;
  for (const ModelList::Row& row : models.rows) {
    name = std::max(name, static_cast<int>(DisplayWidth(Printable(row.name))));
    family = std::max(family, static_cast<int>(DisplayWidth(Printable(row.family))));
  }
  page.Line(page.Dim(TextPage::Padded("model", name + 2) + TextPage::Padded("family", family) +
                     TextPage::RightAligned("layers", 8) + TextPage::RightAligned("param.", 9) +
                     TextPage::RightAligned("tokens", 8) + TextPage::RightAligned("FLOP", 9)));
  for (const ModelList::Row& row : models.rows) {
    page.Line(TextPage::Padded(Printable(row.name), name + 2) +
              TextPage::Padded(Printable(row.family), family) +
              TextPage::RightAligned(Amount(row.layers), 8) +
              TextPage::RightAligned(Amount(static_cast<double>(row.parameters)), 9) +
              TextPage::RightAligned(fmt::format("{}", row.tokens), 8) +
              TextPage::RightAligned(Amount(row.flops), 9));
  }
  page.Line();
  page.Paragraph(fmt::format("{} models, without heads; FLOP: of one input of so many tokens",
                             models.rows.size()),
                 0, kDimStyle);
  page.Foot("any other model of these families: its config.json", models.provenance);
  return page.Take();
}

std::string Json(const ModelList& models) {
  JsonWriter json;
  BeginResult(json, kSchema, models.provenance);
  json.Key("models").BeginArray();
  for (const ModelList::Row& row : models.rows) {
    json.BeginObject();
    json.Member("name", row.name);
    json.Member("family", row.family);
    json.Member("parameters", row.parameters);
    WriteWhole(json, "layers", row.layers);
    json.Member("tokens", row.tokens);
    WriteWhole(json, "flops", row.flops);
    json.End();
  }
  json.End();
  json.Member("tool", ToolText(models.provenance));
  return EndResult(json);
}

std::string Csv(const ModelList& models) {
  CsvTable csv(kSchema, models.provenance, "name,family,parameters,layers,tokens,flops");
  for (const ModelList::Row& row : models.rows) {
    csv.Row(row.name, row.family, row.parameters, WholeOrFigure(row.layers), row.tokens,
            WholeOrFigure(row.flops));
  }
  return csv.Take();
}

}  // namespace

std::string Write(const ModelList& models, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(models);
  if (format == Format::kCsv) return Csv(models);
  return Table(models, options);
}

}  // namespace beryl::views
