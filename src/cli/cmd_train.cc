#include "cli/arguments.h"
#include "flows/find_model.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter =
    R"(Intervals come from leaving out one model at a time. The file is JSON, described in docs/energy-model-file.md.

EXAMPLES
  beryl train irene/device_1 -o my_machine.json
  beryl train irene/device_1 --method end2end --seed 3 -o irene.json
  beryl train runs --model bert-run=bert/config.json --model gpt-run=gpt2 -o my_machine.json
  beryl predict --profile my_machine.json --data new_models)";

struct TrainArguments {
  flows::TrainingData data;
  learn::TrainOptions learning;
  std::string machine;
  std::string output;
};

Result<int> RunTrain(const TrainArguments& arguments) {
  auto output =
      TRY(Output::Open({.format = views::Format::kModelFile, .output = arguments.output}));
  const auto model = TRY(
      flows::TrainMachine(arguments.data, arguments.learning, arguments.machine, output.notes()));
  const std::vector<Note> notes = output.notes();
  TRY(output.Write(flows::WriteProfile(model), notes, views::WriteSummary(model, PlainView())));
  if (arguments.output != "-") Say("wrote {}\n", Printable(arguments.output));
  return kSuccess;
}

}  // namespace

void AddTrain(Command& program, const char* group) {
  const std::string help = views::WriteMethods() + kFooter;
  auto [command, arguments] = program.Subcommand(
      {"train", "Learn a machine's energy from measured runs, and write a profile that predicts it",
       help.c_str()},
      group, RunTrain);
  AddDataArgument(command, arguments.data.path);
  AddRunModelsOption(command, arguments.data.models);
  AddMethodOptions(command, arguments.learning);
  command.Option("--machine TEXT", arguments.machine,
                 "Name of the machine that was measured, for readers of the file");
  command
      .OutputOption("-o,--output FILE", arguments.output,
                    "File for the learned model; - is standard output")
      .Required();
}

}  // namespace beryl::cli
