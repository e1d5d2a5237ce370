#include "cli/arguments.h"
#include "flows/compare_runs.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "precision",
    "Show how much a result depends on the sampling: fewer readings, more steps, repetition",
    R"(OUTPUT
  sparsing    the run accounted with every n-th power reading, against all readings. If half of the
              readings give the same result, twice as many would hardly change it. An energy counter
              keeps its joules; it only loses when they were used between two readings
  widening    the first n runs (or the steps of a single run) against all of them
  stability   every run (or step) against every other; many steps are grouped
Similarity is Pearson's correlation of the energy of operations, with repeated layers folded. Several RUNs
are repetitions of the same run.

EXAMPLES
  beryl precision run.beryl
  beryl precision run1.beryl run2.beryl run3.beryl
  beryl precision --ops trace.json.gz --power power.csv --periods 2,4,8,16
  beryl precision run.beryl --format svg -o precision.svg)"};

struct PrecisionArguments {
  RunArguments run;
  OutputArguments output;
  std::string labels;
  std::string periods;
};

Result<int> RunPrecision(const PrecisionArguments& arguments) {
  const flows::RunFiles& files = arguments.run.files;
  TRY(flows::CheckRunFiles(files));
  const auto options = TRY(ReadOptions(arguments.run));
  const auto labels = TRY(flows::LabelRuns(files.runs, arguments.labels));
  const auto periods = TRY(flows::ParsePeriods(arguments.periods));
  return WriteResult(arguments.output, [&](auto&) {
    return flows::MeasurePrecision(files, labels, options, periods);
  });
}

}  // namespace

void AddPrecision(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunPrecision);
  AddInputOptions(command, arguments.run,
                  "Run files, as written by beryl import; several are repetitions of one run");
  AddLabelsOption(command, arguments.labels);
  command.Option("--periods N,...", arguments.periods,
                 "Keep every n-th reading, for these n; default: 2, 3, 4, 5, 8, 10, 16, ... up "
                 "to 128, as far as there are enough readings");
  AddAccountOptions(command, arguments.run);
  AddOutputOptions(command, arguments.output, views::kFormats<Precision>);
}

}  // namespace beryl::cli
