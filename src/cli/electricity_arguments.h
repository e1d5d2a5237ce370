// Whose electricity: the options of every command that says what energy costs and emits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/energy_use.h"

namespace beryl::cli {

class Command;
class Option;

struct ElectricityArguments {
  std::string region = "US";
  std::string grid;
  std::optional<double> price;
  std::optional<double> carbon;
};

// --region, --price, --carbon, --grid. Returns the options that were added.
std::vector<Option*> AddElectricityOptions(Command& command, ElectricityArguments& arguments);

// A region of the program's table, or of the one given, with what was given in its place.
Result<Electricity> ElectricityOf(const ElectricityArguments& arguments, std::vector<Note>& notes);

}  // namespace beryl::cli
