#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/model_of_run.h"
#include "cli/pipeline.h"
#include "cli/run_arguments.h"
#include "cli/terminal.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say where a run's joules went: operation trace + power trace -> energy of every layer and "
    "operation";

constexpr const char* kFooter = R"(WHAT GOES IN
  RUN       run files, which beryl import makes; several are the ranks of one run. Or
  --ops     what the run did: a trace of PyTorch's profiler (with or without Kineto), a TensorFlow
            timeline, an XPlane file of TensorFlow 2, JAX or XLA (or the log directory it is in), or
            the trace JSON beside it; plain or .gz. Recognised from the content. Several files are
            the steps of one run, and
  --power   what the meters read, as CSV
                timestamp_us,device,power_w        a power gauge, or
                timestamp_us,device,energy_uj      an energy counter that may wrap
            or as JSON {"CPU:0": {"<timestamp_us>": watts, ...}, ...}. Times are microseconds since the
            epoch. Devices are CPU:0, DRAM:0, GPU:1, wall, psys. Several files, such as RAPL's
            counters and a GPU's gauge, are put together. Or a recording of beryl record.
  --rank    a rank of a distributed run: the --ops and --power that follow are its own. Power before
            the first --rank is that of a machine they share.

HOW IT IS SHARED OUT
  At each instant a device's power is shared equally among the operations at work on it. Of nested
  operations only the innermost is at work; those around it have the energy in their total.
  While no operation runs, energy is idle. Energy that no operation may claim is unattributed.
  For every device: operations + idle + unattributed = the integral of its power. Always printed.
  GPU:n feeds what ran on GPU:n; CPU:n and DRAM:n feed the host's operations; wall and psys
  feed nothing: what they do not contain is the rest of the box. --feed overrides this.

WHAT RAN
  --model gives the tree the names that the model has in its own code, and sets FLOPs, bytes and
  parameters of every module beside its energy; --profile adds what it was predicted to take.
  Batch and sequence are read off the shapes in the trace. What did not match is listed.

CSV
  --format csv lists the operations. With --columns, --level, --depth or --model it is the tree, a
  line for each node with its columns.

BUDGET
  --budget FILE holds the run to limits, a line each: PATTERN [forward|backward|optimizer] LIMIT
      total                         3.5 kJ              all operations
      bert/encoder/**               60%                 of the energy of all operations
      **/attention/*  backward      40 J per step       on average over the steps
  * stands for anything within a level of a path, ** for any levels; all that matches is added up.
  A limit that is exceeded, a pattern that meets nothing, and energy that is not known all fail.

EXIT STATUS
  0 done   1 failed (unreadable input, clocks that do not meet, a budget not kept)   2 wrong use

EXAMPLES
  beryl account --ops trace.json.gz --power power.csv
  beryl account --ops step0.json --ops step1.json --power power.csv --depth 3 --top 20
  beryl account --ops trace.json --power power.csv --align start --format html -o report.html
  beryl account --ops trace.json --power rapl.csv --power gpu.csv --format json | jq '.summary[:5]'
  beryl account --ops trace.json --power power.csv --idle-power CPU:0=18 --feed wall=all
  beryl account run.beryl --budget budget.txt
  beryl account run.beryl --model config.json --profile gtx1080ti-i9-7900x
  beryl account run.beryl --model config.json --level ml --columns energy,flops,flops_per_j
  beryl account run.beryl --model config.json --level ml --format csv
  beryl account --ops trace.json --power recorded.beryl --only-ours
  beryl account --rank 0 --ops r0.json --power p0.csv --rank 1 --ops r1.json --power p1.csv
  beryl account --ops logs/plugins/profile/2026_11_16 --power power.csv)";

struct AccountArguments {
  RunArguments run;
  RunModelArguments model;
  OutputArguments output;
  TreeArguments tree;
  std::string budget;
  int top = -1;
};

views::Format FormatOf(const std::string& name) {
  if (name == "json") return views::Format::kJson;
  if (name == "csv") return views::Format::kCsv;
  if (name == "html") return views::Format::kHtml;
  return views::Format::kTable;
}

Result<std::vector<BudgetLine>> BudgetOf(const std::string& file) {
  if (file.empty()) return std::vector<BudgetLine>();
  auto source = ByteSource::Open(file);
  if (!source) return source.error();
  return tree::ReadBudget(*source);
}

int RunAccount(const AccountArguments& arguments) {
  const OutputArguments& out = arguments.output;
  if (auto ok = CheckFiles(arguments.run, out.output); !ok) return Fail(ok.error());
  auto options = ReadOptions(arguments.run);
  if (!options) return Fail(options.error());
  options->timeline = out.format == "html";
  const auto budget = BudgetOf(arguments.budget);
  if (!budget) return Fail(budget.error());
  auto output = OutputFile::Open(out.output);
  if (!output) return Fail(output.error());
  auto run = AccountRunOf(arguments.run, *options);
  if (!run) return Fail(run.error());
  if (auto ok = GiveModel(arguments.model, *run); !ok) return Fail(ok.error());
  AccountReport report = MakeReport(*run, *options);
  report.budget =
      tree::CheckBudget(*budget, run->input.ops, run->footprint, run->built, run->folded);

  views::ViewOptions view;
  TakeTreeArguments(arguments.tree, view);
  if (arguments.top >= 0) view.top = arguments.top;
  view.width = TerminalWidth(out.to_stdout());
  view.color = WantColor(out.color, out.to_stdout());
  if (auto ok = views::CheckColumns(report.tree, view); !ok) return Fail(ok.error());
  const std::string text = views::Write(report, FormatOf(out.format), view);
  if (auto ok = output->Commit(text); !ok) return Fail(ok.error());
  // What a reader has to know and CSV has no place for, or what now lies in a file, is said here.
  if (out.format == "csv" || (!out.to_stdout() && out.format != "table")) {
    view.width = TerminalWidth(false);
    view.color = false;
    fmt::print(stderr, "{}", views::Write(report, views::Format::kSummary, view));
  }
  const std::string failures = views::WriteBudgetFailures(report);
  if (failures.empty()) return kSuccess;
  fmt::print(stderr, "beryl: the run does not keep its budget ({})\n{}", arguments.budget,
             failures);
  return kFailure;
}

}  // namespace

void AddAccountCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<AccountArguments>();
  Command* command = app.add_subcommand("account", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  AddAccountOptions(*command, arguments->run);
  AddRunModelOptions(*command, arguments->model);
  AddTreeOptions(*command, arguments->tree);
  command
      ->add_option("--top", arguments->top,
                   "Operations to list (10 in a table; all in json and csv unless given)")
      ->type_name("N")
      ->check(Range(0, 1'000'000));
  command
      ->add_option("--budget", arguments->budget,
                   "Limits the run is held to; fails if one is not kept")
      ->type_name("FILE");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "html"});
  command->callback([arguments, &exit_code] { exit_code = RunAccount(*arguments); });
}

}  // namespace beryl::cli
