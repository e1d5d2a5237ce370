#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/described_data.h"
#include "cli/learning_arguments.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kEvaluateDescription =
    "Say how well energy is predicted for models that were not trained on";

constexpr const char* kEvaluateFooter =
    R"(WHAT IT DOES
  Leaves out one model of DATA at a time, learns from the others and predicts it. With --test, learns from
  DATA and predicts the models of DATA2. Errors are mean absolute percentages, at each level: ML primitive,
  module, model. The intervals of each model are calibrated on how the others fared.
  describe looks at nothing but the model's name, batch size and length: models have to be in the catalog.
  end2end, stepwise and unstructured start from random numbers: results are the mean over seeds, with range.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl evaluate irene/device_1
  beryl evaluate irene/device_1 --method describe
  beryl evaluate irene/device_1 --method end2end --seeds 5
  beryl evaluate irene/device_1 --test other_models --format json
  beryl evaluate irene/device_1 --format svg -o errors.svg      how many are off by how much)";

constexpr const char* kAblateDescription =
    "Say what each method and each set of features is worth, side by side";

constexpr const char* kAblateFooter =
    R"(WHAT IT DOES
  Evaluates every method with every set of features it can use, leaving out one model at a time: the
  ablations of IrEne's paper (its tables 8 and 9), and the law beside them.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl ablate irene/device_1
  beryl ablate irene/device_1 --seeds 10 --format csv -o ablation.csv)";

constexpr uint64_t kSeeds = 5;

struct EvaluateArguments {
  std::string data;
  std::string test;
  LearningArguments learning;
  uint64_t seeds = kSeeds;
  OutputArguments output;
};

void AddSeedsOption(Command& command, uint64_t& seeds) {
  command
      .add_option("--seeds", seeds,
                  "How many random starts, from --seed on, of methods that have one; default 5")
      ->check(Range(1, 10000))
      ->type_name("N");
}

int RunEvaluate(const EvaluateArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output, {arguments.data, arguments.test}); !ok) {
    return Fail(ok.error());
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  auto data = ReadData(arguments.data, true);
  if (!data) return Fail(data.error());
  Dataset test;
  if (!arguments.test.empty()) {
    auto read = ReadData(arguments.test, true);
    if (!read) return Fail(read.error());
    test = std::move(*read);
  }
  if (arguments.learning.method == "describe") {
    DescribeRuns(*data);
    DescribeRuns(test);
  }
  auto evaluation = learn::Evaluate(*data, arguments.test.empty() ? nullptr : &test,
                                    TrainOptionsOf(arguments.learning), arguments.seeds);
  if (!evaluation) return Fail(evaluation.error());
  evaluation->provenance = MakeProvenance({arguments.data, arguments.test});
  return FinishCommand(
      *output,
      views::Write(*evaluation, FormatOf(arguments.output.format), ViewOf(arguments.output)),
      arguments.output, evaluation->notes);
}

int RunAblate(const EvaluateArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output.output, {arguments.data}); !ok) {
    return Fail(ok.error());
  }
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  const auto data = ReadData(arguments.data, true);
  if (!data) return Fail(data.error());
  auto ablation = learn::Ablate(*data, TrainOptionsOf(arguments.learning), arguments.seeds);
  if (!ablation) return Fail(ablation.error());
  ablation->provenance = MakeProvenance({arguments.data});
  return FinishCommand(
      *output, views::Write(*ablation, FormatOf(arguments.output.format), ViewOf(arguments.output)),
      arguments.output, ablation->notes);
}

}  // namespace

void AddEvaluateCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<EvaluateArguments>();
  Command* command = app.add_subcommand("evaluate", kEvaluateDescription);
  command->footer(kEvaluateFooter);
  AddDataArgument(*command, arguments->data);
  command->add_option("--test", arguments->test, "Test on the models of this data instead")
      ->type_name("DATA2");
  AddMethodOptions(*command, arguments->learning);
  AddSeedsOption(*command, arguments->seeds);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] { exit_code = RunEvaluate(*arguments); });
}

void AddAblateCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<EvaluateArguments>();
  Command* command = app.add_subcommand("ablate", kAblateDescription);
  command->footer(kAblateFooter);
  AddDataArgument(*command, arguments->data);
  AddSeedsOption(*command, arguments->seeds);
  AddTrainingOptions(*command, arguments->learning);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunAblate(*arguments); });
}

}  // namespace beryl::cli
