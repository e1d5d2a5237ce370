#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/child_process.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/live_recording.h"
#include "cli/meter_arguments.h"
#include "cli/record_rounds.h"
#include "cli/recording_report.h"
#include "cli/terminal.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription = "Measure a command, a process or the whole machine";

constexpr const char* kFooter =
    R"(Runs CMD and reads every meter there is until it ends: what devices use, and which part of that is CMD's and
its children's. Without a meter that can be read the energy is an estimate, and says so; beryl sources tells
which meters there are and how to get at the others. The file is readable at any moment: Ctrl-C, a crash or
kill -9 leave what was recorded until then.

  --repeat N     the protocol of measured rounds: a warm-up, N rounds, mean and deviation
  --for TIME     the command again and again until a round is that long (short things need that: counters step
                 in milliseconds); with --pid, or without a command, how long to record
  --cooldown     before each round wait until the machine is back at what it drew before the first one

EXIT STATUS
  that of CMD (128 + N if signal N ended it); 1 failed, 2 wrong use

EXAMPLES
  beryl record -- python train.py
  beryl record -o run.beryl --period 10ms -- python infer.py
  beryl record --pid 4711 --for 30s
  beryl record --repeat 5 --for 20s --cooldown -- ./infer --batch 8
  beryl show run.beryl)";

struct RecordArguments {
  std::string output = "run.beryl";
  std::string period = "4ms";
  std::vector<int32_t> pids;
  std::vector<std::string> command;
  uint32_t repeat = 0;
  std::string length;
  std::string cool_down;
  int warm_up = -1;
  bool quiet = false;
  MeterArguments meters;
};

constexpr Nanos kShortestPeriod{1'000'000};
constexpr Nanos kLongestPeriod{600'000'000'000};
constexpr const char* kDefaultCoolDown = "60s";

Result<RoundPlan> PlanOf(const RecordArguments& arguments) {
  RoundPlan plan;
  plan.command = arguments.command;
  plan.pids = arguments.pids;
  plan.rounds = arguments.repeat;
  if (plan.command.empty() && (plan.rounds > 0 || !arguments.cool_down.empty())) {
    return MisuseError("--repeat and --cooldown need a command: beryl record --repeat 5 -- CMD");
  }
  if (!plan.command.empty() && arguments.output == "-") {
    return MisuseError("-o - is where the command prints: give the recording a file, -o run.beryl");
  }
  if (!plan.command.empty() && !plan.pids.empty()) {
    return MisuseError("either --pid or a command, not both");
  }
  if (!arguments.length.empty()) {
    auto length = ParseDuration("--for", arguments.length);
    if (!length) return length.error();
    plan.length = *length;
    // A command that is run for a time is one round.
    if (!plan.command.empty() && plan.rounds == 0) plan.rounds = 1;
  }
  if (!arguments.cool_down.empty()) {
    auto longest = ParseDuration("--cooldown", arguments.cool_down);
    if (!longest) return longest.error();
    plan.cool_down = *longest;
    if (plan.rounds == 0) plan.rounds = 1;
  }
  plan.warm_up = arguments.warm_up >= 0 ? static_cast<uint32_t>(arguments.warm_up)
                                        : static_cast<uint32_t>(plan.rounds > 1);
  return plan;
}

Result<Nanos> PeriodOf(const RecordArguments& arguments) {
  auto period = ParseDuration("--period", arguments.period);
  if (!period) return period;
  if (*period < kShortestPeriod || *period > kLongestPeriod) {
    return MisuseError(fmt::format("--period {}: it may be 1ms to 10m", arguments.period));
  }
  return period;
}

Result<RoundsDone> Record(const RecordArguments& arguments) {
  auto plan = PlanOf(arguments);
  if (!plan) return plan.error();
  LiveRecording::Options options;
  options.machine = sources::Machine::FromEnvironment();
  auto discover = DiscoverOptionsOf(arguments.meters);
  if (!discover) return discover.error();
  options.discover = *discover;
  auto period = PeriodOf(arguments);
  if (!period) return period.error();
  options.period = *period;
  options.command = arguments.command;
  options.pids = arguments.pids;
  for (const int32_t pid : arguments.pids) {
    if (!sources::IsRunning(options.machine, pid)) {
      return InvalidError(fmt::format("process {}: there is no such process", pid));
    }
  }
  auto file = GrowingFile::Open(arguments.output);
  if (!file) return file.error();
  auto signals = SignalInbox::Open();
  if (!signals) return signals.error();
  RaiseFileLimit();
  AdoptOrphans();
  auto recording = LiveRecording::Start(options, *file);
  if (!recording) return recording.error();
  return RunRounds(*plan, *signals, *recording);
}

// What goes wrong with the recording is told, but the exit code is the command's if that failed.
int RunRecord(const RecordArguments& arguments) {
  const auto done = Record(arguments);
  if (!done) return Fail(done.error());
  const auto code_of = [&](const Error& error) {
    const int failed = Fail(error);
    return done->exit_code != 0 ? done->exit_code : failed;
  };
  if (done->trouble) return code_of(*done->trouble);
  if (arguments.quiet || arguments.output == "-") return done->exit_code;
  const auto report = ReadMeasurement(arguments.output, {});
  if (!report) {
    fmt::print(stderr, "warning: {}\n", report.error().message);
    return done->exit_code;
  }
  views::ViewOptions view;
  view.width = TerminalWidth(false);
  fmt::print(stderr, "{}", views::Write(*report, views::Format::kSummary, view));
  fmt::print(stderr, "wrote {}; beryl show {} has it all\n", arguments.output, arguments.output);
  return done->exit_code;
}

}  // namespace

void AddRecordCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<RecordArguments>();
  Command* command = app.add_subcommand("record", kDescription);
  command->footer(kFooter);
  command->add_option("-o,--output", arguments->output, "The run file to write")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--period", arguments->period, "Time between readings, 1ms to 10m")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--pid", arguments->pids, "Watch this process, and its children")
      ->type_name("PID")
      ->check(PositiveNumber())
      ->allow_extra_args(false);
  command->add_option("--repeat", arguments->repeat, "Rounds to measure")
      ->type_name("N")
      ->check(Range(1, 10'000));
  command->add_option("--for", arguments->length, "How long a round, or a recording, takes")
      ->type_name("TIME");
  command
      ->add_option("--cooldown", arguments->cool_down,
                   "Wait for standby power before each round, at most this long")
      ->type_name("TIME")
      ->expected(0, 1)
      ->default_str(kDefaultCoolDown);
  command
      ->add_option("--warmup", arguments->warm_up,
                   "Runs before the first round, which do not count; 1 with --repeat")
      ->type_name("N")
      ->check(Range(0, 10'000));
  command->add_flag("-q,--quiet", arguments->quiet, "Say nothing at the end");
  AddMeterOptions(*command, arguments->meters);
  command->add_option("command", arguments->command, "The command, after --")->type_name("CMD");
  command->callback([arguments, &exit_code] { exit_code = RunRecord(*arguments); });
}

}  // namespace beryl::cli
