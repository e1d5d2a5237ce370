// How to learn: the options that train, evaluate and ablate share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_arguments.h"
#include "learn/learn.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
}

namespace beryl::cli {

struct LearningArguments {
  std::string method = "law";
  std::string features = "all";
  uint64_t seed = 0;
  double pue = 1.58;
  int threads = 0;
};

// --method, --features, --seed, --pue, --threads.
void AddMethodOptions(CLI::App& command, LearningArguments& arguments);
// --seed, --pue, --threads.
void AddTrainingOptions(CLI::App& command, LearningArguments& arguments);
learn::TrainOptions TrainOptionsOf(const LearningArguments& arguments);

// Leaves the runs of `model` (empty: of all) with that input size (nothing: any); an error that
// says what there is, if that is none.
Result<bool> KeepRuns(Dataset& data, const std::string& model, std::optional<double> batch_size,
                      std::optional<double> seq_len);

// Findings on stderr, where what was written has no place for them or lies in a file.
void SayFindingsBeside(const OutputArguments& output, const std::vector<DataFinding>& findings);

// "beryl 0.1.0"
std::string ToolName();
// Says when and by what it was made.
void StampModel(EnergyModel& model);

}  // namespace beryl::cli
