// What electricity costs and emits by region, as JSON and CSV.
#include "views/energy_use.h"
#include "views/text/csv_table.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.regions/1";

std::string Json(const ElectricityTable& table) {
  JsonWriter json;
  BeginResult(json, kSchema, table.provenance);
  json.Objects("regions", table.regions,
               [&](const Electricity& grid) { WriteElectricityMembers(json, grid); });
  return EndResult(json, table.provenance);
}

std::string Csv(const ElectricityTable& table) {
  CsvTable csv(kSchema, table.provenance,
               "region,price_per_kwh,currency,price_date,price_source,co2e_g_per_kwh,carbon_date,"
               "carbon_source");
  for (const Electricity& grid : table.regions) {
    csv.Row(grid.region, grid.price_per_kwh, grid.currency, grid.price_date, grid.price_source,
            grid.co2e_g_per_kwh, grid.carbon_date, grid.carbon_source);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const ElectricityTable& table, Format format, const ViewOptions& /*options*/) {
  return format == Format::kCsv ? Csv(table) : Json(table);
}

}  // namespace beryl::views
