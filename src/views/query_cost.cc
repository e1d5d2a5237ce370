// The cost of queries in energy, money and emissions: as a table, JSON and CSV.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.cost/2";

std::string Size(std::optional<double> size) { return size ? fmt::format("{:g}", *size) : "-"; }

std::string Table(const QueryCosts& costs, const ViewOptions& options) {
  TextPage page(options);
  page.Incomplete(costs.origin.provenance);
  const Electricity& grid = costs.electricity;
  page.Paragraph(fmt::format(
      "{} queries, each {} of a batch", FigureOrDash(costs.queries),
      costs.passages == 1 ? "one item" : FigureOrDash(costs.passages) + " items (passages)"));
  page.Line();
  const int name = std::min(26, Widest(costs.rows, 5, [](const auto& row) { return row.model; }));
  const bool interval = std::any_of(costs.rows.begin(), costs.rows.end(),
                                    [](const auto& row) { return row.cost.kwh_low.has_value(); });
  const std::vector<int> widths = {-name, 7, 7, 11, 11, 11, interval ? 22 : 0, 11, 11};
  const std::string currency = grid.currency.empty() ? "price" : Printable(grid.currency);
  page.Line(page.Dim(Cells(widths, {"model", "batch", "seq", "per batch", "per query", "kWh",
                                    "between", currency, "kg CO2e"}) +
                     "  energy"));
  for (const QueryCosts::Row& row : costs.rows) {
    const std::string between = row.cost.kwh_low
                                    ? fmt::format("{} - {}", FigureOrDash(row.cost.kwh_low),
                                                  FigureOrDash(row.cost.kwh_high))
                                    : "";
    page.Line(Cells(widths, {NameCell(row.model, name, 0), Size(row.batch_size), Size(row.seq_len),
                             JoulesOrDash(row.batch_energy), JoulesOrDash(row.query_energy),
                             FigureOrDash(row.cost.kwh), between, FigureOrDash(row.cost.price),
                             FigureOrDash(row.cost.co2e_kg)}) +
              (row.predicted ? "  predicted" : "  measured"));
  }
  page.Line();
  page.Paragraph(ElectricityText(grid));
  page.Notes(costs.origin.notes);
  page.Foot(fmt::format("energy {}; data: {}", EnergySources(costs.origin), costs.origin.data),
            costs.origin.provenance);
  return page.Take();
}

std::string Json(const QueryCosts& costs) {
  JsonWriter json;
  BeginResult(json, kSchema, costs.origin.provenance);
  WriteOrigin(json, costs.origin);
  WriteElectricity(json, costs.electricity);
  json.Member("queries", costs.queries).Member("passages", costs.passages);
  json.Objects("rows", costs.rows, [&](const QueryCosts::Row& row) {
    json.Member("model", Printable(row.model)).Member("batch_size", row.batch_size);
    json.Member("seq_len", row.seq_len);
    json.Member("energy", EnergySource(row.predicted, costs.origin));
    json.Member("batch_j", row.batch_energy).Member("query_j", row.query_energy);
    json.Member("kwh", row.cost.kwh)
        .Member("kwh_low", row.cost.kwh_low)
        .Member("kwh_high", row.cost.kwh_high);
    json.Member("price", row.cost.price).Member("co2e_kg", row.cost.co2e_kg);
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
    csv.Row(row.model, row.batch_size, row.seq_len, EnergySource(row.predicted, costs.origin),
            costs.queries, costs.passages, row.batch_energy, row.query_energy, row.cost.kwh,
            row.cost.kwh_low, row.cost.kwh_high, row.cost.price, grid.currency, row.cost.co2e_kg,
            grid.region, grid.price_per_kwh, grid.price_date, grid.price_source,
            grid.co2e_g_per_kwh, grid.carbon_date, grid.carbon_source);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const QueryCosts& costs, Format format, const ViewOptions& options) {
  return WriteUsual(costs, format, options, Json, Csv, Table);
}

}  // namespace beryl::views
