// What queries cost in energy, money and emissions: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/csv_table.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.cost/2";

std::string Size(double size) { return size > 0 ? fmt::format("{:g}", size) : "-"; }

std::string Table(const QueryCosts& costs, const ViewOptions& options) {
  TextPage page(options);
  const Electricity& grid = costs.electricity;
  page.Paragraph(fmt::format(
      "{} queries, each {} of a batch", FigureOrDash(costs.queries),
      costs.passages == 1 ? "one item" : FigureOrDash(costs.passages) + " items (passages)"));
  page.Line();
  const int name = std::min(26, Widest(costs.rows, 5, [](const auto& row) { return row.model; }));
  const bool interval = std::any_of(costs.rows.begin(), costs.rows.end(),
                                    [](const auto& row) { return std::isfinite(row.kwh_low); });
  const std::vector<int> widths = {-name, 7, 7, 10, 10, 11, interval ? 22 : 0, 11, 11};
  const std::string currency = grid.currency.empty() ? "price" : Printable(grid.currency);
  page.Line(page.Dim(Cells(widths, {"model", "batch", "seq", "a batch", "a query", "kWh", "between",
                                    currency, "kg CO2e"}) +
                     "  energy"));
  for (const QueryCosts::Row& row : costs.rows) {
    const std::string between =
        std::isfinite(row.kwh_low)
            ? fmt::format("{} - {}", FigureOrDash(row.kwh_low), FigureOrDash(row.kwh_high))
            : "";
    page.Line(Cells(widths, {NameCell(row.model, name, 0), Size(row.batch_size), Size(row.seq_len),
                             JoulesOrDash(row.batch_energy), JoulesOrDash(row.query_energy),
                             FigureOrDash(row.kwh), between, FigureOrDash(row.price),
                             FigureOrDash(row.co2e_kg)}) +
              (row.predicted ? "  predicted" : "  measured"));
  }
  page.Line();
  page.Paragraph(ElectricityText(grid));
  page.Foot(fmt::format("energy {}; data: {}", EnergySources(costs.origin), costs.origin.data),
            costs.origin.provenance);
  return page.Take();
}

std::string Json(const QueryCosts& costs) {
  JsonWriter json;
  BeginResult(json, kSchema, costs.origin.provenance);
  WriteOrigin(json, costs.origin);
  WriteElectricity(json, costs.electricity);
  json.Member("queries", costs.queries);
  json.Member("passages", costs.passages);
  json.Objects("rows", costs.rows, [&](const QueryCosts::Row& row) {
    json.Member("model", Printable(row.model));
    json.Member("batch_size", KnownSize(row.batch_size));
    json.Member("seq_len", KnownSize(row.seq_len));
    json.Member("energy", EnergySource(row.predicted, costs.origin));
    json.Member("batch_j", row.batch_energy);
    json.Member("query_j", row.query_energy);
    json.Member("kwh", row.kwh);
    json.Member("kwh_low", row.kwh_low);
    json.Member("kwh_high", row.kwh_high);
    json.Member("price", row.price);
    json.Member("co2e_kg", row.co2e_kg);
  });
  return EndResult(json);
}

std::string Csv(const QueryCosts& costs) {
  const Electricity& grid = costs.electricity;
  CsvTable csv(kSchema, costs.origin.provenance,
               "model,batch_size,seq_len,energy,queries,passages,batch_j,query_j,kwh,kwh_low,"
               "kwh_high,price,currency,co2e_kg,region,price_per_kwh,price_date,price_source,"
               "co2e_g_per_kwh,carbon_date,carbon_source");
  for (const QueryCosts::Row& row : costs.rows) {
    csv.Row(row.model, KnownSize(row.batch_size), KnownSize(row.seq_len),
            EnergySource(row.predicted, costs.origin), costs.queries, costs.passages,
            row.batch_energy, row.query_energy, row.kwh, row.kwh_low, row.kwh_high, row.price,
            grid.currency, row.co2e_kg, grid.region, grid.price_per_kwh, grid.price_date,
            grid.price_source, grid.co2e_g_per_kwh, grid.carbon_date, grid.carbon_source);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const QueryCosts& costs, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(costs);
  if (format == Format::kCsv) return Csv(costs);
  return Table(costs, options);
}

}  // namespace beryl::views
