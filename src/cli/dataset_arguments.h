// The arguments of every command that takes a data set: the data, and what predicts its energy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_arguments.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/energy_use.h"
#include "views/views.h"

namespace beryl::cli {

class Check;
class Command;

// DATA. The help of commands says what it may be.
void AddDataArgument(Command& command, std::string& data);
// For numbers: finite, and above (or from) 0. PositiveNumber and NonNegativeNumber take NaN.
Check FiniteAbove0();
Check FiniteFrom0();
// --profile.
void AddProfileOption(Command& command, std::string& profile);
// --model.
void AddModelOption(Command& command, std::string& model);
// --batch and --seq; `otherwise` says what happens without them.
void AddSizeOptions(Command& command, std::optional<double>& batch_size,
                    std::optional<double>& seq_len, const std::string& otherwise);

// `models`: of run files, which model ran (run_data.h).
Result<Dataset> ReadData(const std::string& path, bool needs_energy,
                         const std::vector<std::string>& models = {});
// --model of what is learned from.
void AddRunModelsOption(Command& command, std::vector<std::string>& models);

// Leaves the runs of `model` (empty: of all) with that input size (nothing: any). If that is none,
// an error that says what there is.
Result<bool> KeepRuns(Dataset& data, const std::string& model,
                      std::optional<double> batch_size = {}, std::optional<double> seq_len = {});

// A profile that ships with the program, by name, or a file that `beryl train` wrote. A name that
// is neither is an error that lists those there are.
Result<EnergyModel> FindModel(const std::string& profile);
// The same for what predicts data: a datasheet is refused.
Result<EnergyModel> FindDataModel(const std::string& profile);

// What the analyses work on: the data (one model of it, if `model` is not empty), and what the
// profile (if not empty) predicts of it.
struct AnalysedData {
  Dataset data;
  std::vector<Column> predicted;  // by run, or empty
  EnergyOrigin origin;
};
Result<AnalysedData> ReadAnalysed(const std::string& path, const std::string& model,
                                  const std::string& profile);

// A file that a person wrote: a table of figures.
Result<std::string> ReadSmallFile(const std::string& path);

// That no input is overwritten.
Result<bool> CheckOutput(const std::string& output, const std::vector<std::string>& inputs);

// Width and colour of what goes out.
views::ViewOptions ViewOf(const OutputArguments& output);

// "; did you mean 'gpt2'?" for the near ones of `known`; else all of them, if they are few.
std::string NearNames(const std::string& word, const std::vector<std::string>& known);

}  // namespace beryl::cli
