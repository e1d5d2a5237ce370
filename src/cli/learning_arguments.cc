#include "cli/learning_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"

namespace beryl::cli {

void AddTrainingOptions(Command& command, LearningArguments& arguments) {
  command.add_option("--seed", arguments.seed, "Random start of methods that have one; default 0")
      ->check(FiniteFrom0())
      ->type_name("N");
  command
      .add_option("--pue", arguments.pue,
                  "Of the baseline: power usage effectiveness; default 1.58, as Strubell et al. "
                  "took it")
      ->check(FiniteAbove0())
      ->type_name("X");
  command
      .add_option("--threads", arguments.threads, "Threads; default: as many as there are cores")
      ->check(Range(0, 1024))
      ->type_name("N");
}

void AddMethodOptions(Command& command, LearningArguments& arguments) {
  command.add_option("--method", arguments.method, "How energy is predicted; default law")
      ->check(
          IsMember({"law", "describe", "end2end", "stepwise", "sum", "unstructured", "baseline"}));
  command
      .add_option("--features", arguments.features,
                  "What it may look at: a run's resources, the model's description, or all")
      ->check(IsMember({"all", "resource", "model"}));
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

int FinishCommand(OutputFile& file, const std::string& bytes, const OutputArguments& output,
                  const std::vector<Note>& notes) {
  if (auto ok = file.Commit(bytes); !ok) return Fail(ok.error());
  const bool said = output.to_stdout() && (output.format == "table" || output.format == "json");
  if (!said) SayNotes(notes);
  return kSuccess;
}

}  // namespace beryl::cli
