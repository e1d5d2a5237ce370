#include <unistd.h>

#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "flows/analyse_run.h"
#include "flows/measure_run.h"
#include "flows/record_request.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "record", "Measure a command, a process or the whole machine",
    R"(Runs CMD and reads every meter until it ends. Reports the energy that CMD and its children used, and that of
the whole machine. Without CMD and --pid it records the machine until Ctrl-C. Without a readable meter the
energy is an estimate, labelled as such; beryl sources shows which meters there are and how to enable the
others. The file can be read at any time: after Ctrl-C, a crash or kill -9 it holds everything recorded until
then. A file that exists is replaced only with --force, and only once CMD has started.

  --repeat N     measures rounds: a warm-up, then N rounds; reports mean and deviation
  --for TIME     repeats the command until a round is that long (short commands need it: counters update every
                 few milliseconds); with --pid, or without a command, how long to record
  --cooldown     waits before each round until power is back at its initial level

EXIT STATUS
  that of CMD (128 + N if signal N ended it); 1 failed, 2 usage error

EXAMPLES
  beryl record -- python train.py
  beryl record -o run.beryl --period 10ms -- python infer.py
  beryl record --pid 4711 --for 30s
  beryl record --live
  beryl record --repeat 5 --for 20s --cooldown -- ./infer --batch 8
  beryl show run.beryl)"};

struct RecordArguments {
  flows::RecordRequest request;
  bool quiet = false;
  bool live = false;
  flows::ElectricityRequest electricity;
  std::string budget;
};

// What is recorded without a command, where, and what ends it.
std::string BeginningOf(const flows::RecordRequest& request, const std::string& file) {
  const bool machine = request.pids.empty();
  const std::string text = fmt::format(
      "recording {} into {}",
      machine ? "the whole machine" : fmt::format("process {}", fmt::join(request.pids, ", ")),
      file);
  if (!request.length.empty()) return fmt::format("{} for {}", text, request.length);
  if (!machine) return text + " until it ends, or Ctrl-C";
  return text + " until Ctrl-C (a command: beryl record -- CMD; a process: --pid PID)";
}

Result<flows::RoundsDone> Record(const RecordArguments& arguments) {
  auto options = TRY(flows::RecordOptionsOf(arguments.request));
  // A wrong region is an error now, not after the recording.
  std::vector<Note> notes_of_grid;
  TRY(flows::ChooseElectricity(arguments.electricity, notes_of_grid));
  const bool speaks =
      !arguments.quiet && options.plan.command.empty() && arguments.request.output != "-";
  if (speaks) {
    options.when_begun = [&arguments](const std::string& file) {
      Say(BeginningOf(arguments.request, file) + "\n");
    };
  }
  // A command has the terminal to itself; then, as without a terminal, there is a line a second.
  StatusLine line;
  const auto print = [&](const PowerLook& look) {
    line.Show(views::Write(look, views::Format::kSummary, PlainView()));
  };
  if (arguments.live) {
    options.live = LookView(STDERR_FILENO, options.plan.command.empty(), PlainView(), print);
  }
  return flows::RecordRounds(options);
}

// If the command failed, the exit code is the command's, whatever else went wrong.
int RunRecord(const RecordArguments& arguments) {
  const auto budget = flows::ReadBudget(arguments.budget);
  if (!budget) return Fail(budget.error());
  if (!budget->empty() && arguments.request.output == "-") {
    return Fail(
        MisuseError("a recording on standard output is not read again to check a budget; "
                    "write it to a file",
                    {"budget", "output"}));
  }
  const auto done = Record(arguments);
  if (!done) return Fail(done.error());
  const auto code = [&](int ours) { return done->exit_code != 0 ? done->exit_code : ours; };
  if (done->trouble) return code(Fail(*done->trouble));
  const bool silent = arguments.quiet || arguments.request.output == "-";
  if (silent && budget->empty()) return done->exit_code;
  if (done->file.empty()) {
    Say("stopped before the command started: nothing was recorded\n");
    return done->exit_code;
  }
  const auto report = flows::ReadMeasurement(done->file, {.electricity = arguments.electricity});
  // Nobody knows whether a budget is kept.
  if (!report && !budget->empty()) return code(Fail(report.error()));
  if (!report) {
    Say("warning: {}\n", Printable(report.error().message));
    return done->exit_code;
  }
  const auto verdicts = flows::CheckBudget(*budget, *report, false);
  if (!silent) Say(views::WriteBudgetKept(verdicts));
  const int kept = code(SayBudget(verdicts, arguments.budget));
  if (silent) return kept;
  Say(views::Write(*report, views::Format::kSummary, PlainView()));
  Say("wrote {0}; beryl show {0} shows all of it\n", Printable(done->file));
  return kept;
}

}  // namespace

void AddRecord(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunRecord);
  command.OutputOption(
      "-o,--output FILE", arguments.request.output,
      "Run file to write; - is standard output; default: run.beryl, or run-2.beryl "
      "and so on if there is one");
  command.Flag("--force", arguments.request.force, "Replace the file of -o if it exists");
  command.Option("--period TIME", arguments.request.period, "Time between readings, 1ms to 10m");
  command.Option("--pid PID", arguments.request.pids,
                 "Watch this process and its children; repeatable", Above0());
  command.Option("--repeat N", arguments.request.repeat, "Rounds to measure", Between(1, 10'000));
  command.Option("--for TIME", arguments.request.length, "Length of a round, or of the recording");
  command
      .Option("--cooldown TIME", arguments.request.cool_down,
              "Wait for standby power before each round, for at most this long")
      .OrJust("60s");
  command.Option("--warmup N", arguments.request.warm_up,
                 "Runs before the first round that are not counted; default with --repeat: 1",
                 Between(0, 10'000));
  command.Flag("--live", arguments.live,
               "Show power and energy while it records; without a command q ends it");
  command.Flag("-q,--quiet", arguments.quiet, "Print no summary");
  AddMeasuredBudgetOption(command, arguments.budget);
  AddMeterOptions(command, arguments.request.meters);
  AddElectricityOptions(command, arguments.electricity);
  command.Words("CMD", arguments.request.command, "Command to run, after --");
}

}  // namespace beryl::cli
