#include <memory>

#include <fmt/format.h>

#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

// The three differ in what is ranked and in their examples only.
struct FootprintCommand {
  const char* name;
  OperationRanking::Kind kind;
  const char* description;
  const char* about;
  const char* examples;
};

constexpr const char* kRows = R"(
  Devices are added up: a name is one row (and a row for each pass it runs in), its energy the sum over
  devices, its power that over its time at work. json has the devices of each row in `devices`, csv has a
  row for each device. Names whose energy is not known come last, with ?.
  With two steps or more there is a deviation over steps: ± in the table, whiskers in the picture.)";

constexpr FootprintCommand kTef = {
    "tef", OperationRanking::Kind::kTef,
    "Tensor energy footprint: the energy of every operation by qualified name",
    R"(WHAT COMES OUT
  The energy of every operation, by its qualified name (bert/encoder/layer_0/output/dense/MatMul), the
  largest first.)",
    R"(
EXAMPLES
  beryl tef --ops trace.json.gz --power power.csv
  beryl tef run.beryl --phase forward --top 50
  beryl tef run.beryl --format csv -o tef.csv)"};

constexpr FootprintCommand kStef = {
    "stef", OperationRanking::Kind::kStef,
    "Summarized footprint: the energy of operations with like layers added up",
    R"(WHAT COMES OUT
  As tef, with like layers added up: layer_0 to layer_11 are one layer, layer_*. Which layers are alike is
  told by their structure, not by a list of names.)",
    R"(
EXAMPLES
  beryl stef --ops trace.json.gz --power power.csv
  beryl stef run.beryl --phase backward
  beryl stef run.beryl --top 10 --format svg -o stef.svg)"};

constexpr FootprintCommand kStpf = {
    "stpf", OperationRanking::Kind::kStpf,
    "Summarized power footprint: the power of operations with like layers added up",
    R"(WHAT COMES OUT
  As stef, ranked by power: energy over time at work. Names without known energy are left out. An operation
  that ran only a moment has a power too, and it is mostly chance: --min-share leaves such names out.)",
    R"(
EXAMPLES
  beryl stpf --ops trace.json.gz --power power.csv
  beryl stpf run.beryl --min-share 1 --top 10
  beryl stpf run.beryl --min-share 1 --format svg -o stpf.svg)"};

struct FootprintArguments {
  RunArguments run;
  OutputArguments output;
  std::string phase;
  int top = -1;
  double min_share_percent = 0;
};

int RunFootprint(const FootprintArguments& arguments, OperationRanking::Kind kind) {
  return RunAnalysis(
      arguments.run, arguments.output,
      [&](const AccountedRun& run, const AccountReport& report, views::ViewOptions view) {
        tree::RankingOptions options;
        options.kind = kind;
        options.phase = PhaseOf(arguments.phase);
        options.min_share = arguments.min_share_percent / 100;
        const OperationRanking ranking =
            tree::Rank(run.input.ops, run.footprint,
                       kind == OperationRanking::Kind::kTef ? run.built : run.folded, options);
        if (arguments.top >= 0) view.top = arguments.top;
        return Result<std::string>(
            views::Write(report, ranking, FormatOf(arguments.output.format), view));
      });
}

void AddFootprintCommand(Command& app, const FootprintCommand& footprint, int& exit_code) {
  auto arguments = std::make_shared<FootprintArguments>();
  Command* command = app.add_subcommand(footprint.name, footprint.description);
  command->footer(fmt::format("{}{}\n{}", footprint.about, kRows, footprint.examples));
  AddInputOptions(*command, arguments->run);
  AddAccountOptions(*command, arguments->run);
  AddPhaseOption(*command, arguments->phase);
  command
      ->add_option("--top", arguments->top,
                   "Names to show (20 in a table, 10 in a picture; all in json and csv)")
      ->type_name("N")
      ->check(Range(0, 1'000'000));
  command
      ->add_option("--min-share", arguments->min_share_percent,
                   "Leave out names with less than this part of the energy")
      ->type_name("PERCENT")
      ->check(Range(0.0, 100.0));
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, kind = footprint.kind, &exit_code] {
    exit_code = RunFootprint(*arguments, kind);
  });
}

}  // namespace

void AddFootprintCommands(Command& app, int& exit_code) {
  for (const FootprintCommand& footprint : {kTef, kStef, kStpf}) {
    AddFootprintCommand(app, footprint, exit_code);
  }
}

}  // namespace beryl::cli
