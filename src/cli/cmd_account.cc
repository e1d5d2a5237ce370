#include "cli/arguments.h"
#include "flows/analyse_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "account",
    "Attribute a run's energy: operation trace + power trace -> energy of every layer and "
    "operation",
    R"(INPUT
  RUN       a run file, as written by beryl import, or those of a run's ranks: r0.beryl+r1.beryl. Or
  --ops     what the run did: a trace of PyTorch's profiler (with or without Kineto), a TensorFlow
            timeline, an XPlane file of TensorFlow 2, JAX or XLA (or the log directory it is in), or
            the trace JSON beside it; plain or .gz. The format is detected from the content. Several
            files are the steps of one run, and
  --power   what the meters read, as CSV
                timestamp_us,device,power_w        a power gauge, or
                timestamp_us,device,energy_uj      an energy counter that may wrap
            or as JSON {"CPU:0": {"<timestamp_us>": watts, ...}, ...}. Times are microseconds since the
            epoch. Devices are CPU:0, DRAM:0, GPU:1, wall, psys. Several files, such as RAPL's
            counters and a GPU's gauge, are combined. Or a recording of beryl record.
  --rank    a rank of a distributed run; the --ops and --power that follow belong to it. Power given
            before the first --rank is that of a machine that the ranks share.

HOW ENERGY IS ATTRIBUTED
  At each instant a device's power is divided equally among the operations running on it. Of nested
  operations only the innermost runs; the total of each outer one includes the energy inside it.
  While no operation runs, energy is idle. Energy that belongs to no operation is unattributed.
  For every device: operations + idle + unattributed = the integral of its power. Always printed.
  GPU:n feeds what ran on GPU:n; CPU:n and DRAM:n feed the host's operations; wall and psys feed
  none: the energy beyond the channels they contain is the rest of the machine. --feed overrides this.

WHOSE ENERGY
  If a recording watched a process, only the energy of this process and its children is attributed
  (docs/measurement.md); with --whole-machine, all of it is. The result says which.

THE MODEL THAT RAN
  --model gives the tree the names of the model's own code, and adds FLOPs, bytes and parameters of
  every module; --profile adds the predicted energy. Batch size and sequence length are taken from the
  shapes in the trace. Modules that did not match are listed.

CSV
  --format csv lists the operations. With --columns, --level, --depth or --model it lists the tree,
  one line per node.

BUDGET
  --budget FILE checks the run against limits, one per line: PATTERN [forward|backward|optimizer] LIMIT
      total                         3.5 kJ              all operations
      bert/encoder/**               60%                 of the energy of all operations
      **/attention/*  backward      40 J per step       on average over the steps
  * matches anything within one level of a path, ** any number of levels; all matches are summed.
  A limit that is exceeded, a pattern that matches nothing, and unknown energy all fail. So does
  incomplete input (a trace or a run file cut short, damaged or empty), unless --allow-incomplete.

EXAMPLES
  beryl account --ops trace.json.gz --power power.csv
  beryl account --ops step0.json --ops step1.json --power power.csv --depth 3 --top 20
  beryl account --ops trace.json --power power.csv --align start --format html -o report.html
  beryl account --ops trace.json --power rapl.csv --power gpu.csv --format json | jq '.summary[:5]'
  beryl account --ops trace.json --power power.csv --idle-power CPU:0=18 --feed wall=all
  beryl account run.beryl --budget budget.txt
  beryl account run.beryl --model config.json --profile gtx1080ti-i9-7900x
  beryl account run.beryl --model config.json --level ml --columns energy,flops,flops_per_j
  beryl account --rank 0 --ops r0.json --power p0.csv --rank 1 --ops r1.json --power p1.csv
  beryl account --ops logs/plugins/profile/2026_11_16 --power power.csv)"};

struct AccountArguments {
  AnalysisArguments analysis;
  TreeArguments tree;
  std::string budget;
  bool allow_incomplete = false;
  std::optional<int> top;
};

Result<int> RunAccount(const AccountArguments& arguments) {
  const views::Format format = arguments.analysis.output.format;
  const auto budget = TRY(flows::ReadBudget(arguments.budget));
  std::string failures;
  bool is_incomplete = false;
  const auto make = [&](Analysis& analysis) -> Result<std::string> {
    auto& [run, report, options, view] = analysis;
    report.budget = flows::CheckBudget(budget, run, report, arguments.allow_incomplete);
    is_incomplete = !arguments.allow_incomplete && !report.provenance.incomplete.empty();
    failures = views::WriteBudgetFailures(report.budget);
    TakeTreeArguments(arguments.tree, view);
    view.top = arguments.top;
    TRY(views::CheckColumns(report.folded, view));
    return views::Write(report, format, view);
  };
  TRY(RunAnalysis(arguments.analysis, make, format == views::Format::kHtml,
                  format == views::Format::kTable));
  if (failures.empty()) return kSuccess;
  Say("beryl: the run fails its budget ({})\n{}", Printable(arguments.budget), failures);
  if (is_incomplete) Say(kIncompleteHint);
  return kFailure;
}

}  // namespace

void AddAccount(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunAccount);
  AddAnalysisOptions(command, arguments.analysis, views::kFormats<AccountReport>);
  AddTreeOptions(command, arguments.tree);
  AddTopOption(command, arguments.top,
               "Operations to list; default: 10 in a table, all in json and csv");
  command.Option("--budget FILE", arguments.budget, "Energy limits; fails if one is exceeded");
  AddAllowIncompleteOption(command, arguments.allow_incomplete);
}

}  // namespace beryl::cli
