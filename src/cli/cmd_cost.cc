#include <algorithm>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/dataset_arguments.h"
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
  std::string region = "US";
  std::string grid;
  std::optional<double> price;
  std::optional<double> carbon;
  learn::CostOptions options;
  OutputArguments output;
};

Result<Electricity> ElectricityOf(const CostArguments& arguments,
                                  std::vector<DataFinding>& findings) {
  std::string text(learn::BundledElectricity());
  if (!arguments.grid.empty()) {
    auto read = ReadSmallFile(arguments.grid);
    if (!read) return read.error();
    text = *std::move(read);
  }
  auto regions = learn::ReadElectricity(text, arguments.grid, findings);
  if (!regions) return regions.error();
  std::vector<std::string> names;
  for (const Electricity& region : *regions) names.push_back(region.region);
  const auto found = std::find(names.begin(), names.end(), arguments.region);
  if (found == names.end()) {
    return MisuseError(
        fmt::format("--region '{}' is not in {}{}", Printable(arguments.region),
                    arguments.grid.empty() ? "the program's table" : Printable(arguments.grid),
                    NearNames(arguments.region, names)));
  }
  Electricity electricity = (*regions)[static_cast<size_t>(found - names.begin())];
  if (arguments.price) {
    electricity.price_per_kwh = *arguments.price;
    electricity.price_date.clear();
    electricity.price_source = "given with --price";
  }
  if (arguments.carbon) {
    electricity.co2e_g_per_kwh = *arguments.carbon;
    electricity.carbon_date.clear();
    electricity.carbon_source = "given with --carbon";
  }
  return electricity;
}

int RunCost(CostArguments& arguments) {
  std::vector<DataFinding> grid_findings;
  auto electricity = ElectricityOf(arguments, grid_findings);
  if (!electricity) return Fail(electricity.error());
  arguments.options.electricity = *std::move(electricity);
  if (auto ok =
          CheckOutput(arguments.output.output, {arguments.data, arguments.profile, arguments.grid});
      !ok)
    return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  auto input = ReadAnalysed(arguments.data, arguments.model, arguments.profile);
  if (!input) return Fail(input.error());
  EnergyOrigin& origin = input->origin;
  origin.findings.insert(origin.findings.end(), grid_findings.begin(), grid_findings.end());
  auto costs = learn::CostQueries(input->data, input->predicted, arguments.options);
  if (!costs) {
    SayFindings(origin.findings);
    return Fail(costs.error());
  }
  costs->origin = std::move(origin);
  if (auto ok = output->Commit(
          views::Write(*costs, FormatOf(arguments.output.format), ViewOf(arguments.output)));
      !ok) {
    return Fail(ok.error());
  }
  if (arguments.output.format != "json") SayFindings(costs->origin.findings);
  return kSuccess;
}

}  // namespace

void AddCostCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CostArguments>();
  CLI::App* command = app.add_subcommand("cost", kDescription);
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
  command->add_option("--region", arguments->region, "Whose electricity; default: US")
      ->type_name("REGION");
  command->add_option("--price", arguments->price, "Price of a kWh, in the region's currency")
      ->check(FiniteFrom0())
      ->type_name("X");
  command->add_option("--carbon", arguments->carbon, "Grams of CO2e for a kWh")
      ->check(FiniteFrom0())
      ->type_name("G");
  command->add_option("--grid", arguments->grid, "A table of regions to use instead")
      ->type_name("FILE");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv"});
  command->callback([arguments, &exit_code] { exit_code = RunCost(*arguments); });
}

}  // namespace beryl::cli
