#include "cli/arguments.h"
#include "flows/analyse_run.h"
#include "flows/measure_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "show", "Summarize a recording: energy by device and process, power over time, who used it",
    R"(OUTPUT
  the first line has the energy of the watched command, then that of the machine; below it, what a run
  of the command takes (of record --repeat), and kWh, price and CO2e in --region
  energy      of every device: a package and its memory, a GPU; of the whole machine only if nothing
              finer was measured. Channels that contain a device or lie inside it are shown, never
              added. For every device: ours + others + recorder + idle = energy
  ours        the watched processes, by their CPU time on the CPUs of the package (docs/measurement.md)
  gaps        time without readings; no energy is counted there
  features    mean use of CPUs, memory and GPUs, named as the features of prediction
  -           unknown; never written as 0

HOW ENERGY IS DIVIDED
  --split busy      among the processes that ran, by their CPU time; idle only while nothing runs
  --split capacity  an idle CPU keeps its share of the time, which counts as idle energy

EXAMPLES
  beryl record -o run.beryl -- python3 train.py
  beryl show run.beryl
  beryl show run.beryl --format svg -o power.svg
  beryl show run.beryl --format json | jq '.devices[] | {device, energy_j, ours_j}')"};

struct ShowArguments {
  std::string file;
  flows::MeasureRequest measure;
  std::optional<int> top;
  std::string budget;
  bool allow_incomplete = false;
  OutputArguments output;
};

Result<int> RunShow(const ShowArguments& arguments) {
  const auto budget = TRY(flows::ReadBudget(arguments.budget));
  auto output = TRY(Output::Open(arguments.output));
  auto measured = TRY(flows::ReadMeasurement(arguments.file, arguments.measure));
  measured.budget = flows::CheckBudget(budget, measured, arguments.allow_incomplete);
  views::ViewOptions view = output.view();
  view.top = arguments.top;
  TRY(output.Write(views::Write(measured, output.format(), view), {},
                   views::Write(measured, views::Format::kSummary, PlainView())));
  const int kept = SayBudget(measured.budget, arguments.budget);
  const bool complete = measured.provenance.incomplete.empty() && measured.total.missing.empty();
  if (kept != kSuccess && !complete && !arguments.allow_incomplete) Say(kIncompleteHint);
  return kept;
}

}  // namespace

void AddShow(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunShow);
  arguments.measure.options.slices = 240;
  command.Argument("FILE", arguments.file, "A recording of beryl record, or any run file")
      .Required();
  command.Choice("--split", arguments.measure.options.split, flows::SplitWords(),
                 "How energy is divided by CPU time");
  AddWindowOptions(command, arguments.measure.window);
  AddSlicesOption(command, arguments.measure.options.slices, "Time slices of the power curve");
  AddTopOption(command, arguments.top, "Processes to list in a table");
  AddElectricityOptions(command, arguments.measure.electricity);
  AddMeasuredBudgetOption(command, arguments.budget);
  AddAllowIncompleteOption(command, arguments.allow_incomplete);
  AddOutputOptions(command, arguments.output, views::kFormats<Measurement>);
}

}  // namespace beryl::cli
