// The arguments of every command that takes a data set: the data, and what predicts its energy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "types/dataset.h"
#include "types/energy_model.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace beryl::cli {

// DATA. The help of commands says what it may be.
void AddDataArgument(CLI::App& command, std::string& data);
// --profile.
void AddProfileOption(CLI::App& command, std::string& profile);

Result<Dataset> ReadData(const std::string& path, bool needs_energy);

// A profile that ships with the program, by name, or a file that `beryl train` wrote. A name that
// is neither is an error that lists those there are.
Result<EnergyModel> FindModel(const std::string& profile);

// What a reader has to know of the data, on stderr: a line each.
void SayFindings(const std::vector<DataFinding>& findings);

// "; did you mean 'gpt2'?" for the near ones of `known`; else all of them, if they are few.
std::string NearNames(const std::string& word, const std::vector<std::string>& known);

}  // namespace beryl::cli
