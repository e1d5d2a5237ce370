#include "cli/electricity_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "learn/learn.h"

namespace beryl::cli {

std::vector<Option*> AddElectricityOptions(Command& command, ElectricityArguments& arguments) {
  return {
      command.add_option("--region", arguments.region, "Whose electricity; default: US")
          ->type_name("REGION"),
      command.add_option("--price", arguments.price, "Price of a kWh, in the region's currency")
          ->check(FiniteFrom0())
          ->type_name("X"),
      command.add_option("--carbon", arguments.carbon, "Grams of CO2e for a kWh")
          ->check(FiniteFrom0())
          ->type_name("G"),
      command.add_option("--grid", arguments.grid, "A table of regions to use instead")
          ->type_name("FILE")};
}

Result<Electricity> ElectricityOf(const ElectricityArguments& arguments, std::vector<Note>& notes) {
  std::string text(learn::BundledElectricity());
  if (!arguments.grid.empty()) {
    auto read = ReadSmallFile(arguments.grid);
    if (!read) return read.error();
    text = *std::move(read);
  }
  auto regions = learn::ReadElectricity(text, arguments.grid, notes);
  if (!regions) return regions.error();
  std::vector<std::string> names;
  for (const Electricity& region : *regions) names.push_back(region.region);
  const auto found = std::find(names.begin(), names.end(), arguments.region);
  if (found == names.end()) {
    return MisuseError(
        fmt::format("--region '{}' is not in {}{}", Printable(arguments.region),
                    arguments.grid.empty() ? "the program's table" : Printable(arguments.grid),
                    NearNames(arguments.region, names)));
  }
  Electricity electricity = (*regions)[static_cast<size_t>(found - names.begin())];
  if (arguments.price) {
    electricity.price_per_kwh = *arguments.price;
    electricity.price_date.clear();
    electricity.price_source = "given with --price";
  }
  if (arguments.carbon) {
    electricity.co2e_g_per_kwh = *arguments.carbon;
    electricity.carbon_date.clear();
    electricity.carbon_source = "given with --carbon";
  }
  return electricity;
}

}  // namespace beryl::cli
