// The models of the catalog: as a table, JSON and CSV.

#include <fmt/format.h>

#include "base/text.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.models/1";

std::string Table(const ModelList& models, const ViewOptions& options) {
  TextPage page(options);
  const int name = Widest(models.rows, 5, [](const auto& row) { return row.name; });
  const int family = Widest(models.rows, 6, [](const auto& row) { return row.family; });
  const std::vector<int> widths = {-name - 2, -family, 8, 9, 8, 9};
  page.Line(page.Dim(Cells(widths, {"model", "family", "layers", "param.", "tokens", "FLOP"})));
  for (const ModelList::Row& row : models.rows) {
    page.Line(Cells(widths, {Printable(row.name), Printable(row.family), Amount(row.layers),
                             Amount(static_cast<double>(row.parameters)),
                             std::to_string(row.tokens), Amount(row.flops)}));
  }
  page.Line();
  page.SmallPrint(fmt::format("{} models, without heads; FLOP for one input with that many tokens",
                              models.rows.size()));
  page.Foot("for any other model of these families, give its config.json", models.provenance);
  return page.Take();
}

std::string Json(const ModelList& models) {
  JsonWriter json;
  BeginResult(json, kSchema, models.provenance);
  json.Objects("models", models.rows, [&](const ModelList::Row& row) {
    json.Member("name", row.name).Member("family", row.family).Member("parameters", row.parameters);
    WriteWhole(json, "layers", row.layers);
    json.Member("tokens", row.tokens);
    WriteWhole(json, "flops", row.flops);
  });
  return EndResult(json, models.provenance);
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
  return WriteUsual(models, format, options, Json, Csv, Table);
}

}  // namespace beryl::views
