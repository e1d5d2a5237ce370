#include "views/energy_use.h"

#include <fmt/format.h>

#include "base/text.h"
#include "views/text/notes.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// "0.1319 USD per kWh (2021-05, who says so)"
std::string Said(std::optional<double> value, const std::string& unit, const std::string& date,
                 const std::string& source) {
  if (!value) return fmt::format("{} unknown", unit);
  std::string text = fmt::format("{:g} {}", *value, unit);
  if (!source.empty()) {
    text += date.empty() ? fmt::format(" ({})", source) : fmt::format(" ({}, {})", date, source);
  }
  return Printable(text);
}

}  // namespace

std::string EnergySource(bool predicted, const EnergyOrigin& origin) {
  return predicted ? "predicted by " + Printable(origin.predicted_by) : "measured";
}

std::string EnergySources(const EnergyOrigin& origin) {
  if (origin.predicted_by.empty()) return EnergySource(false, origin);
  if (!origin.measured) return EnergySource(true, origin);
  return fmt::format("{}, and {}", EnergySource(false, origin), EnergySource(true, origin));
}

void WriteOrigin(JsonWriter& json, const EnergyOrigin& origin) {
  json.Member("tool", ToolText(origin.provenance)).Member("data", Printable(origin.data));
  json.Key("energy").BeginArray();
  if (origin.measured) json.Value(EnergySource(false, origin));
  if (!origin.predicted_by.empty()) json.Value(EnergySource(true, origin));
  json.End();
  WriteNotes(json, origin.notes);
}

std::string ElectricityText(const Electricity& grid) {
  return fmt::format(
      "electricity in {}: {}; {}", Printable(grid.region),
      Said(grid.price_per_kwh, grid.currency.empty() ? "price per kWh" : grid.currency + " per kWh",
           grid.price_date, grid.price_source),
      Said(grid.co2e_g_per_kwh, "g CO2e per kWh", grid.carbon_date, grid.carbon_source));
}

void WriteElectricity(JsonWriter& json, const Electricity& grid) {
  json.Key("electricity").BeginObject();
  WriteElectricityMembers(json, grid);
  json.End();
}

void WriteElectricityMembers(JsonWriter& json, const Electricity& grid) {
  json.Member("region", Printable(grid.region)).Member("price_per_kwh", grid.price_per_kwh);
  json.Member("currency", Printable(grid.currency));
  json.Member("price_date", Printable(grid.price_date));
  json.Member("price_source", Printable(grid.price_source));
  json.Member("co2e_g_per_kwh", grid.co2e_g_per_kwh);
  json.Member("carbon_date", Printable(grid.carbon_date));
  json.Member("carbon_source", Printable(grid.carbon_source));
}

}  // namespace beryl::views
