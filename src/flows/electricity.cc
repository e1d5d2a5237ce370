#include "flows/electricity.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "datasets/datasets.h"
#include "flows/near_names.h"
#include "flows/read_data.h"

namespace beryl::flows {

Result<ElectricityTable> ListRegions() {
  // What ships is whole: a test reads it.
  std::vector<Note> none;
  auto regions = TRY(datasets::ReadElectricity(datasets::BundledElectricity(), "", none));
  return ElectricityTable{MakeProvenance({}), std::move(regions)};
}

Result<Electricity> ChooseElectricity(const ElectricityRequest& request, std::vector<Note>& notes) {
  std::string text(datasets::BundledElectricity());
  if (!request.grid.empty()) {
    text = TRY(ReadSmallFile(request.grid));
  }
  auto regions = TRY(datasets::ReadElectricity(text, request.grid, notes));
  std::vector<std::string> names;
  names.reserve(regions.size());
  for (const Electricity& region : regions) names.push_back(region.region);
  const auto found = std::find(names.begin(), names.end(), request.region);
  if (found == names.end()) {
    return MisuseError(
        fmt::format("region '{}' is not in {}{}", Printable(request.region),
                    request.grid.empty() ? "the program's table" : Printable(request.grid),
                    NearNames(request.region, names)),
        {"region"});
  }
  Electricity electricity = regions[static_cast<size_t>(found - names.begin())];
  if (request.price) {
    electricity.price_per_kwh = *request.price;
    electricity.price_date.clear();
    electricity.price_source = "given";
  }
  if (request.carbon) {
    electricity.co2e_g_per_kwh = *request.carbon;
    electricity.carbon_date.clear();
    electricity.carbon_source = "given";
  }
  return electricity;
}

}  // namespace beryl::flows
