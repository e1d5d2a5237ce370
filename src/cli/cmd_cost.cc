#include <memory>
#include <optional>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/dataset_arguments.h"
#include "cli/electricity_arguments.h"
#include "learn/learn.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say what a million queries cost: energy, money and CO2, by model and input size";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
A query is one item of a batch: the model's energy, divided by the batch size. --passages says how many
items a query takes: a question that is asked of 150 passages takes 150.

Price and emissions of a kilowatt-hour come from a table in the program, each with its date and source
(they are old as soon as they are printed). --price and --carbon replace them; --grid reads a table of your
own, a CSV with the columns
  region,price_per_kwh,currency,price_date,price_source,co2e_g_per_kwh,carbon_date,carbon_source
Nothing is fetched.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl cost irene/device_1 --model bert-base-uncased --batch 16 --seq 256
  beryl cost irene/device_1 --batch 16 --seq 256 --passages 150
  beryl cost features.csv --region DE --format csv
  beryl cost features.csv --price 0.08 --carbon 30 --profile my_machine.json)";

struct CostArguments {
  std::string data;
  std::string model;
  std::string profile;
  ElectricityArguments electricity;
  learn::CostOptions options;
  OutputArguments output;
};

int RunCost(CostArguments& arguments) {
  std::vector<Note> grid_notes;
  auto electricity = ElectricityOf(arguments.electricity, grid_notes);
  if (!electricity) return Fail(electricity.error());
  arguments.options.electricity = *std::move(electricity);
  if (auto ok = CheckOutput(arguments.output.output,
                            {arguments.data, arguments.profile, arguments.electricity.grid});
      !ok)
    return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  auto input = ReadAnalysed(arguments.data, arguments.model, arguments.profile);
  if (!input) return Fail(input.error());
  EnergyOrigin& origin = input->origin;
  AppendNotes(origin.notes, grid_notes);
  auto costs = learn::CostQueries(input->data, input->predicted, arguments.options);
  if (!costs) {
    SayNotes(origin.notes);
    return Fail(costs.error());
  }
  costs->origin = std::move(origin);
  if (const std::string& grid = arguments.electricity.grid; !grid.empty()) {
    costs->origin.provenance.sources.push_back(grid);
  }
  if (auto ok = output->Commit(
          views::Write(*costs, FormatOf(arguments.output.format), ViewOf(arguments.output)));
      !ok) {
    return Fail(ok.error());
  }
  if (arguments.output.format != "json") SayNotes(costs->origin.notes);
  return kSuccess;
}

}  // namespace

void AddCostCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<CostArguments>();
  Command* command = app.add_subcommand("cost", kDescription);
  command->footer(kFooter);
  AddDataArgument(*command, arguments->data);
  AddModelOption(*command, arguments->model);
  AddSizeOptions(*command, arguments->options.batch_size, arguments->options.seq_len,
                 "default: every one");
  AddProfileOption(*command, arguments->profile);
  command->add_option("--queries", arguments->options.queries, "How many queries; default: 1000000")
      ->check(FiniteAbove0())
      ->type_name("N");
  command
      ->add_option("--passages", arguments->options.passages,
                   "How many items of a batch a query takes; default: 1")
      ->check(FiniteAbove0())
      ->type_name("N");
  AddElectricityOptions(*command, arguments->electricity);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunCost(*arguments); });
}

}  // namespace beryl::cli
