#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/described_data.h"
#include "cli/learning_arguments.h"
#include "cli/terminal.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Learn a machine's energy from measured runs, and write it to a file that predicts";

constexpr const char* kFooter =
    R"(METHODS
  law           energy = a x the device's own energy + (rest of the box + c x CPU %) x time, one law for
                every node. Terms that the data does not fix keep a sound prior, and say so
  describe      from the model's description alone, no run: what each kind of operation costs the device
                and the host, and a correction for shapes that were measured. The law takes it along
                where the models of the data are in the catalog (`beryl models`)
  end2end       IrEne: a linear regressor for each ML primitive, and child weights learned over whole trees
  stepwise      the same, each parent from its children's measured energy
  sum           ML primitives added up
  unstructured  one regressor for all modules and models, no tree
  baseline      the GPU driver's energy times the power usage effectiveness (Strubell et al.)
Intervals come from leaving out one model at a time. The file is JSON; docs/energy-model-file.md.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl train irene/device_1 -o my_machine.json
  beryl train irene/device_1 --method end2end --seed 3 -o irene.json
  beryl train runs --model bert-run=bert/config.json --model gpt-run=gpt2 -o my_machine.json
  beryl predict --profile my_machine.json --data new_models)";

struct TrainArguments {
  std::string data;
  std::vector<std::string> models;
  LearningArguments learning;
  std::string machine;
  std::string output;
};

// What tells energy from descriptions goes beside the law, where the data's models are known.
Result<EnergyModel> TrainAll(Dataset& data, const learn::TrainOptions& options) {
  if (options.method != Method::kLaw && options.method != Method::kDescribe) {
    return learn::Train(data, options);
  }
  learn::TrainOptions describe = options;
  describe.method = Method::kDescribe;
  describe.seconds = true;
  if (options.method == Method::kDescribe) {
    DescribeRuns(data);
    return learn::Train(data, describe);
  }
  auto law = learn::Train(data, options);
  if (!law) return law;
  DescribeRuns(data);
  if (auto described = learn::Train(data, describe)) law->described = described->described;
  return law;
}

int RunTrain(const TrainArguments& arguments) {
  if (auto ok = CheckOutput(arguments.output, {arguments.data}); !ok) return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output);
  if (!output) return Fail(output.error());
  auto data = ReadData(arguments.data, true, arguments.models);
  if (!data) return Fail(data.error());
  SayNotes(data->notes);
  auto model = TrainAll(*data, TrainOptionsOf(arguments.learning));
  if (!model) return Fail(model.error());
  model->trained_on.machine = arguments.machine;
  model->provenance = MakeProvenance({arguments.data});
  if (auto written = output->Commit(learn::WriteEnergyModel(*model)); !written) {
    return Fail(written.error());
  }
  views::ViewOptions view;
  view.width = TerminalWidth(false);
  fmt::print(stderr, "{}", views::WriteSummary(*model, view));
  if (arguments.output != "-") fmt::print(stderr, "wrote {}\n", arguments.output);
  return kSuccess;
}

}  // namespace

void AddTrainCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<TrainArguments>();
  Command* command = app.add_subcommand("train", kDescription);
  command->footer(kFooter);
  AddDataArgument(*command, arguments->data);
  AddRunModelsOption(*command, arguments->models);
  AddMethodOptions(*command, arguments->learning);
  command->add_option("--machine", arguments->machine, "What was measured, for the file's readers")
      ->type_name("TEXT");
  command->add_option("-o,--output", arguments->output, "Where the learned model goes; - is stdout")
      ->required()
      ->type_name("FILE");
  command->callback([arguments, &exit_code] { exit_code = RunTrain(*arguments); });
}

}  // namespace beryl::cli
