// The price and emissions of electricity.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/energy_use.h"
#include "types/note.h"

namespace beryl::flows {

struct ElectricityRequest {
  std::string region = "US";
  std::string grid = {};  // a table of regions; empty: the one that ships with the program
  std::optional<double> price = {};   // per kWh, instead of the table's
  std::optional<double> carbon = {};  // grams of CO2e per kWh, instead of the table's
};

// All regions of the program's table.
Result<ElectricityTable> ListRegions();
// A region of the program's table or of the given one, with the given price and emissions.
Result<Electricity> ChooseElectricity(const ElectricityRequest& request, std::vector<Note>& notes);

}  // namespace beryl::flows
