// What queries cost in energy, money and emissions: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/energy_use.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.cost/1";

class CostTable : public TextPage {
 public:
  CostTable(const QueryCosts& costs, const ViewOptions& options)
      : TextPage(options), costs_(costs) {}

  std::string Write() {
    const Electricity& grid = costs_.electricity;
    Paragraph(fmt::format(
        "{} queries, each {} of a batch", FigureOrDash(costs_.queries),
        costs_.passages == 1 ? "one item" : FigureOrDash(costs_.passages) + " items (passages)"));
    Line();
    for (const QueryCosts::Row& row : costs_.rows) {
      widest_ = std::max(widest_, static_cast<int>(DisplayWidth(Printable(row.model))));
      interval_ = interval_ || std::isfinite(row.kwh_low);
    }
    widest_ = std::min(widest_, 26);
    Head(grid.currency.empty() ? "price" : Printable(grid.currency));
    for (const QueryCosts::Row& row : costs_.rows) Row(row);
    Line();
    Paragraph(ElectricityText(grid));
    Paragraph(fmt::format("energy {}; data: {}", EnergySources(costs_.origin), costs_.origin.data),
              0, kDimStyle);
    return Take();
  }

 private:
  void Head(const std::string& currency) {
    Line(Dim(Padded("model", widest_) + RightAligned("batch", 7) + RightAligned("seq", 7) +
             RightAligned("a batch", 10) + RightAligned("a query", 10) + RightAligned("kWh", 11) +
             (interval_ ? RightAligned("between", 22) : "") + RightAligned(currency, 11) +
             RightAligned("kg CO2e", 11) + "  energy"));
  }

  static std::string Size(double size) { return size > 0 ? fmt::format("{:g}", size) : "-"; }

  void Row(const QueryCosts::Row& row) {
    const std::string interval =
        std::isfinite(row.kwh_low)
            ? fmt::format("{} - {}", FigureOrDash(row.kwh_low), FigureOrDash(row.kwh_high))
            : "";
    Line(Padded(Ellipsize(Printable(row.model), static_cast<size_t>(widest_)), widest_) +
         RightAligned(Size(row.batch_size), 7) + RightAligned(Size(row.seq_len), 7) +
         RightAligned(JoulesOrDash(row.batch_energy), 10) +
         RightAligned(JoulesOrDash(row.query_energy), 10) +
         RightAligned(FigureOrDash(row.kwh), 11) + (interval_ ? RightAligned(interval, 22) : "") +
         RightAligned(FigureOrDash(row.price), 11) + RightAligned(FigureOrDash(row.co2e_kg), 11) +
         "  " + (row.predicted ? "predicted" : "measured"));
  }

  const QueryCosts& costs_;
  int widest_ = 5;
  bool interval_ = false;
};

std::string Json(const QueryCosts& costs) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  WriteOrigin(json, costs.origin);
  WriteElectricity(json, costs.electricity);
  json.Member("queries", costs.queries);
  json.Member("passages", costs.passages);
  json.Key("rows").BeginArray();
  for (const QueryCosts::Row& row : costs.rows) {
    json.BeginObject();
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
    json.End();
  }
  json.End();
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const QueryCosts& costs) {
  const Electricity& grid = costs.electricity;
  std::string text =
      "model,batch_size,seq_len,energy,queries,passages,batch_j,query_j,kwh,kwh_low,kwh_high,price,"
      "currency,co2e_kg,region,price_per_kwh,price_date,price_source,co2e_g_per_kwh,carbon_date,"
      "carbon_source,schema\n";
  const std::string electricity = fmt::format(
      "{},{},{},{},{},{},{},{}", CsvText(grid.region), CsvFigure(grid.price_per_kwh),
      CsvText(grid.price_date), CsvText(grid.price_source), CsvFigure(grid.co2e_g_per_kwh),
      CsvText(grid.carbon_date), CsvText(grid.carbon_source), kSchema);
  for (const QueryCosts::Row& row : costs.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(row.model),
                        CsvNumber(KnownSize(row.batch_size)), CsvNumber(KnownSize(row.seq_len)),
                        CsvText(EnergySource(row.predicted, costs.origin)), costs.queries,
                        costs.passages, CsvFigure(row.batch_energy), CsvFigure(row.query_energy),
                        CsvFigure(row.kwh), CsvFigure(row.kwh_low), CsvFigure(row.kwh_high),
                        CsvFigure(row.price), CsvText(grid.currency), CsvFigure(row.co2e_kg),
                        electricity);
  }
  return text;
}

}  // namespace

std::string Write(const QueryCosts& costs, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(costs);
  if (format == Format::kCsv) return Csv(costs);
  return CostTable(costs, options).Write();
}

}  // namespace beryl::views
