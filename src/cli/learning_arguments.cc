#include "cli/learning_arguments.h"

#include <algorithm>
#include <chrono>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"
#include "cli/dataset_arguments.h"
#include "version.h"

namespace beryl::cli {

void AddTrainingOptions(CLI::App& command, LearningArguments& arguments) {
  command.add_option("--seed", arguments.seed, "Random start of methods that have one; default 0")
      ->type_name("N");
  command
      .add_option("--pue", arguments.pue,
                  "Of the baseline: power usage effectiveness; default 1.58, as Strubell et al. "
                  "took it")
      ->check(CLI::Range(0.1, 10.0))
      ->type_name("X");
  command
      .add_option("--threads", arguments.threads, "Threads; default: as many as there are cores")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
}

void AddMethodOptions(CLI::App& command, LearningArguments& arguments) {
  command.add_option("--method", arguments.method, "How energy is predicted; default law")
      ->check(CLI::IsMember({"law", "end2end", "stepwise", "sum", "unstructured", "baseline"}));
  command
      .add_option("--features", arguments.features,
                  "What it may look at: a run's resources, the model's description, or all")
      ->check(CLI::IsMember({"all", "resource", "model"}));
  AddTrainingOptions(command, arguments);
}

learn::TrainOptions TrainOptionsOf(const LearningArguments& arguments) {
  learn::TrainOptions options;
  options.method = *ParseMethod(arguments.method);
  options.features = *ParseFeatureSet(arguments.features);
  options.seed = arguments.seed;
  options.pue = arguments.pue;
  options.threads = arguments.threads;
  return options;
}

Result<bool> KeepRuns(Dataset& data, const std::string& model, std::optional<double> batch_size,
                      std::optional<double> seq_len) {
  const std::vector<std::string> known = ModelsOf(data);
  if (!model.empty() && std::find(known.begin(), known.end(), model) == known.end()) {
    return InvalidError(fmt::format("{}: there is no model '{}'{}", data.name, Printable(model),
                                    NearNames(model, known)));
  }
  std::erase_if(data.runs,
                [&](const ModelRun& run) { return !model.empty() && run.model != model; });
  std::string sizes;
  size_t count = 0;
  constexpr size_t kFew = 8;
  for (const ModelRun& run : data.runs) {
    if (count++ < kFew) {
      sizes += fmt::format("{}{}x{}", sizes.empty() ? "" : ", ", run.batch_size, run.seq_len);
    }
  }
  if (count > kFew) sizes += fmt::format(" and {} more", count - kFew);
  std::erase_if(data.runs, [&](const ModelRun& run) {
    return (batch_size && run.batch_size != *batch_size) || (seq_len && run.seq_len != *seq_len);
  });
  if (data.runs.empty()) {
    return InvalidError(fmt::format(
        "{}: there is no run of this batch size and length; there are {}", data.name, sizes));
  }
  return true;
}

void SayFindingsBeside(const OutputArguments& output, const std::vector<DataFinding>& findings) {
  if (output.format == "table" && output.to_stdout()) return;  // they stand in it
  if (output.format == "json" && output.to_stdout()) return;
  SayFindings(findings);
}

std::string ToolName() { return fmt::format("beryl {}", kVersion); }

void StampModel(EnergyModel& model) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  model.trained_on.when = fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
  model.trained_on.tool = ToolName();
}

}  // namespace beryl::cli
