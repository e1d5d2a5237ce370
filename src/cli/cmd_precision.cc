#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/pipeline.h"
#include "cli/run_arguments.h"
#include "cli/terminal.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say how much a result hangs on how it was sampled: with fewer readings, over more steps, "
    "again "
    "and again";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
  sparsing    the run accounted with every n-th power reading, against all of them. If half the readings
              show the same, twice as many would hardly show something else. An energy counter keeps
              its joules, and loses only when between two readings they were used
  widening    the first n runs (or the steps of a single run) against all of them
  stability   every run (or step) against every other; many steps are put together in groups
Similarity is Pearson's correlation of the energy of operations, layers added up. Unlike elsewhere,
several RUN files are not ranks here, but the same run repeated.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl precision run.beryl
  beryl precision run1.beryl run2.beryl run3.beryl
  beryl precision --ops trace.json.gz --power power.csv --periods 2,4,8,16
  beryl precision run.beryl --format svg -o precision.svg)";

// Each costs time and memory in the sweep; those beyond are for --periods.
constexpr uint64_t kSparsestByDefault = 128;

struct PrecisionArguments {
  RunArguments run;
  OutputArguments output;
  std::string labels;
  std::string periods;
};

// Sorted, each once, and 1 before all others.
Result<std::vector<uint32_t>> PeriodsOf(const std::string& given) {
  std::vector<uint32_t> periods;
  if (given.empty()) return periods;
  periods.push_back(1);
  for (const std::string_view word : Split(given, ',')) {
    const auto number = ParseNumber(word);
    if (!number || *number < 1 || *number > 1e9 || std::floor(*number) != *number) {
      return MisuseError(
          fmt::format("--periods '{}': expected whole numbers from 1, such as 2,4,8", given));
    }
    periods.push_back(static_cast<uint32_t>(*number));
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

int RunPrecision(const PrecisionArguments& arguments) {
  const OutputArguments& out = arguments.output;
  if (auto ok = CheckFiles(arguments.run, out.output); !ok) return Fail(ok.error());
  const auto options = ReadOptions(arguments.run);
  if (!options) return Fail(options.error());
  const auto labels = LabelsOf(arguments.run, arguments.labels);
  if (!labels) return Fail(labels.error());
  const auto given = PeriodsOf(arguments.periods);
  if (!given) return Fail(given.error());
  auto output = OutputFile::Open(out.output);
  if (!output) return Fail(output.error());

  std::vector<AccountedRun> runs;
  std::vector<AccountReport> reports;
  std::vector<std::vector<Precision::Sparsing>> sparsing;
  auto ok = ForEachRun(arguments.run, *options, [&](AccountedRun run) {
    reports.push_back(MakeReport(run, *options));
    const PowerTrace& power = run.input.power;
    const std::vector<uint32_t> every =
        given->empty()
            ? tree::LogLikeCounts(std::min(kSparsestByDefault, account::SparsestPeriod(power)))
            : *given;
    auto thinned = account::AccountThinned(power, run.input.ops, options->account, every);
    if (!thinned) return Result<bool>(thinned.error());
    sparsing.push_back(tree::Sparse(run.input.ops, *thinned, every, run.folded));
    ForgetOperations(run);
    runs.push_back(std::move(run));
    return Result<bool>(true);
  });
  if (!ok) return Fail(ok.error());
  Precision precision = tree::MeasurePrecision(SidesOf(*labels, runs), sparsing);
  precision.runs = std::move(reports);
  precision.provenance = ProvenanceOf(precision.runs);

  views::ViewOptions view;
  view.width = TerminalWidth(out.to_stdout());
  view.color = WantColor(out.color, out.to_stdout());
  if (auto written = output->Commit(views::Write(precision, FormatOf(out.format), view));
      !written) {
    return Fail(written.error());
  }
  // What CSV has no place for, or what now lies in a file, is said here.
  if (out.format == "csv" || !out.to_stdout()) {
    for (const std::string& verdict : precision.verdicts) fmt::print(stderr, "{}\n", verdict);
  }
  return kSuccess;
}

}  // namespace

void AddPrecisionCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<PrecisionArguments>();
  Command* command = app.add_subcommand("precision", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  command->add_option("--labels", arguments->labels, "What to call the runs; default: their files")
      ->type_name("A,B,...");
  command
      ->add_option(
          "--periods", arguments->periods,
          "Keep every n-th reading, for these n; default: 2, 3, 4, 5, 8, 10, 16, ... up to 128 "
          "as far as readings allow")
      ->type_name("N,...");
  AddAccountOptions(*command, arguments->run);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] { exit_code = RunPrecision(*arguments); });
}

}  // namespace beryl::cli
