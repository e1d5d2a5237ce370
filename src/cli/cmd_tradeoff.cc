#include "cli/arguments.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "tradeoff", "Show accuracy against energy: which models are worth their joules", R"(OUTPUT
Energy is that of one batch, with all models at one input size: the largest that all of them have, or the
one you choose. A model is on the Pareto front if no other takes less energy and is as accurate. --budget
selects the most accurate model within it, --target the one that takes least and is accurate enough.

ACCURACY is a CSV with the columns model (named as in DATA) and accuracy, on any scale, and optionally
label, the name to show.

EXAMPLES
  beryl tradeoff irene/device_1 sst2.csv
  beryl tradeoff irene/device_1 sst2.csv --batch 16 --seq 128 --budget 30 --target 0.88
  beryl tradeoff features.csv sst2.csv --profile my_machine.json --format svg -o tradeoff.svg)"};

struct TradeoffArguments {
  flows::DataRequest data;
  std::string accuracies;
  analyze::TradeoffOptions options;
  std::optional<double> budget_j;
  OutputArguments output;
};

Result<int> RunTradeoff(const TradeoffArguments& arguments) {
  auto output = TRY(Output::Open(arguments.output));
  analyze::TradeoffOptions options = arguments.options;
  if (arguments.budget_j) options.budget = Joules{*arguments.budget_j};
  const auto tradeoff =
      TRY(flows::TradeOff(arguments.data, arguments.accuracies, options, output.notes()));
  TRY(output.Write(views::Write(tradeoff, output.format(), output.view()), tradeoff.origin.notes,
                   views::WriteVerdicts(tradeoff)));
  return kSuccess;
}

}  // namespace

void AddTradeoff(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunTradeoff);
  AddDataOptions(command, arguments.data);
  command.Argument("ACCURACY", arguments.accuracies, "CSV of models and accuracies").Required();
  AddSizeOptions(command, arguments.options.batch_size, arguments.options.seq_len,
                 "default: the largest that all models have");
  command.Option("--budget J", arguments.budget_j,
                 "Show which model is most accurate within this many joules per batch", Above0());
  command.Option("--target ACC", arguments.options.target,
                 "Show which model takes least and is at least this accurate");
  AddOutputOptions(command, arguments.output, views::kFormats<Tradeoff>);
}

}  // namespace beryl::cli
