#include "cli/arguments.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "cost", "Show what a million queries cost: energy, money and CO2, by model and input size",
    R"(OUTPUT
A query is one item of a batch: the model's energy divided by the batch size. --passages sets how many
items a query takes: a question that is asked of 150 passages takes 150.

Price and emissions of a kilowatt-hour come from a table in the program, each with its date and source
(they may be out of date). --price and --carbon replace them; --grid reads your own table, a CSV with
the columns
  region,price_per_kwh,currency,price_date,price_source,co2e_g_per_kwh,carbon_date,carbon_source
Nothing is fetched from the network.

EXAMPLES
  beryl cost irene/device_1 --model bert-base-uncased --batch 16 --seq 256
  beryl cost irene/device_1 --batch 16 --seq 256 --passages 150
  beryl cost features.csv --price 0.08 --carbon 30 --profile my_machine.json)"};

struct CostArguments {
  flows::DataRequest data;
  flows::ElectricityRequest electricity;
  analyze::CostOptions options;
  OutputArguments output;
};

Result<int> RunCost(const CostArguments& arguments) {
  return WriteResult(arguments.output, [&](std::vector<Note>& notes) {
    return flows::CostQueries(arguments.data, arguments.electricity, arguments.options, notes);
  });
}

}  // namespace

void AddCost(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunCost);
  AddDataOptions(command, arguments.data);
  AddModelOption(command, arguments.data.model);
  AddSizeOptions(command, arguments.options.batch_size, arguments.options.seq_len, "default: all");
  command.Option("--queries N", arguments.options.queries, "Number of queries", Above0());
  command.Option("--passages N", arguments.options.passages,
                 "Items of a batch that one query takes", Above0());
  AddElectricityOptions(command, arguments.electricity);
  AddOutputOptions(command, arguments.output, views::kFormats<QueryCosts>);
}

}  // namespace beryl::cli
