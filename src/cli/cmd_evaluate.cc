#include "cli/arguments.h"

namespace beryl::cli {
namespace {

constexpr CommandText kEvaluate = {
    "evaluate", "Show how well energy is predicted for models outside the training data",
    R"(WHAT IT DOES
  Leaves out one model of DATA at a time, learns from the others and predicts it. --leave leaves out more: a
  whole family (BERT with RoBERTa and DistilBERT), whose shapes the other models may not have, or a batch size
  and length of all models. With --test, it learns from DATA and predicts the models of DATA2. Errors are mean
  absolute percentages at each level: ML primitive, module, model. Intervals are calibrated without the models
  that are left out. describe uses only a model's name, batch size and length, so the catalog must have it.
  end2end, stepwise and unstructured start from random numbers: results are the mean over seeds, with range.

EXAMPLES
  beryl evaluate irene/device_1
  beryl evaluate irene/device_1 --method describe
  beryl evaluate irene/device_1 --method describe --leave family
  beryl evaluate irene/device_1 --method end2end --seeds 5
  beryl evaluate irene/device_1 --format svg -o errors.svg      distribution of the errors)"};

constexpr CommandText kAblate = {
    "ablate", "Compare the errors of every method with every set of features", R"(WHAT IT DOES
  Evaluates every method with every set of features it can use, leaving out one model at a time: the
  ablations of IrEne's paper (its tables 8 and 9), and the law.

EXAMPLES
  beryl ablate irene/device_1
  beryl ablate irene/device_1 --seeds 10 --format csv -o ablation.csv)"};

struct EvaluateArguments {
  std::string data;
  std::string test;
  FoldBy fold_by = FoldBy::kModel;
  learn::TrainOptions learning;
  uint64_t seeds = 5;
  OutputArguments output;
};

void AddSeedsOption(Command& command, uint64_t& seeds) {
  command.Option("--seeds N", seeds,
                 "Random starts to average over, from --seed on, of methods that have one",
                 Between(1, 10'000));
}

Result<int> RunEvaluate(const EvaluateArguments& arguments) {
  return WriteResult(arguments.output, [&](auto&) {
    return flows::EvaluateMethod(arguments.data, arguments.test, arguments.learning,
                                 arguments.seeds, arguments.fold_by);
  });
}

Result<int> RunAblate(const EvaluateArguments& arguments) {
  return WriteResult(arguments.output, [&](auto&) {
    return flows::AblateMethods(arguments.data, arguments.learning, arguments.seeds);
  });
}

}  // namespace

void AddEvaluate(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kEvaluate, group, RunEvaluate);
  AddDataArgument(command, arguments.data);
  const Parameter leave = command.Choice(
      "--leave", arguments.fold_by,
      {{"model", FoldBy::kModel}, {"family", FoldBy::kFamily}, {"size", FoldBy::kSize}},
      "What to leave out at a time and predict from the rest");
  command.Option("--test DATA2", arguments.test, "Test on the models of this data instead")
      .Excludes({leave});
  AddMethodOptions(command, arguments.learning);
  AddSeedsOption(command, arguments.seeds);
  AddOutputOptions(command, arguments.output, views::kFormats<Evaluation>);
}

void AddAblate(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kAblate, group, RunAblate);
  AddDataArgument(command, arguments.data);
  AddSeedsOption(command, arguments.seeds);
  AddTrainingOptions(command, arguments.learning);
  AddOutputOptions(command, arguments.output, views::kFormats<Ablation>);
}

}  // namespace beryl::cli
