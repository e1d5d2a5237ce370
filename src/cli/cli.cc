#include "cli/cli.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command_line.h"
#include "version.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter =
    R"(Every command has its own help with examples: beryl COMMAND --help

EXAMPLES
  beryl demo                                               see it work in a second
  beryl record -- python train.py                          measure a program
  beryl account --ops trace.json.gz --power run.beryl      where did the joules of my run go?
  beryl import -o run.beryl --ops trace.json.gz --power power.csv
  beryl edd run.beryl --format svg -o diagram.svg          as a picture
  beryl compare before.beryl run.beryl --fail-above 5%     did it get worse?
  beryl train measured/ -o machine.json                    learn a machine's energy
  beryl predict --profile machine.json --data features/    and do without the meter
  beryl describe bert-base-uncased --batch 8 --seq 128     what a model takes, without a run
  beryl predict bert-base-uncased --batch 8 --seq 128      and its energy)";

// "; did you mean 'account'?", if one of `known` is near.
std::string Suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](const auto& a, const auto& b) { return EditDistance(a, word) < EditDistance(b, word); });
  if (nearest == known.end() || EditDistance(*nearest, word) > 3) return "";
  return fmt::format("; did you mean '{}'?", *nearest);
}

// The first word that is no command, or that looks like an option and is none; empty if all is
// known.
std::string UnknownWord(const Command& app, int argc, char** argv) {
  std::vector<std::string> known;
  const auto chosen = app.chosen_subcommands();
  if (chosen.empty()) {
    for (const Command* command : app.get_subcommands()) known.push_back(command->get_name());
    if (argc < 2 || argv[1][0] == '-') return "";
    return fmt::format("unknown command '{}'{}", argv[1], Suggestion(argv[1], known));
  }
  for (const Option* option : chosen.front()->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    if (word.starts_with("--") && word != "--" &&
        std::count(known.begin(), known.end(), word) == 0) {
      return fmt::format("unknown option '{}'{}", word, Suggestion(word, known));
    }
  }
  return "";
}

}  // namespace

int Fail(const Error& error) {
  fmt::print(stderr, "beryl: {}\n", error.message);
  return error.code == ErrorCode::kMisuse ? kMisuse : kFailure;
}

void SayNotes(const std::vector<Note>& notes) {
  fmt::print(stderr, "{}", views::WriteNotes(notes));
}

int Run(int argc, char** argv) {
  // A reader that goes away, such as head, ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  Command app{"Where do a deep-learning program's joules go?", "beryl"};
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("beryl {} ({})", kVersion, kBuildType));
  app.require_subcommand();
  app.column_width(34);
  int exit_code = kSuccess;
  AddAccountCommand(app, exit_code);
  AddImportCommand(app, exit_code);
  AddSourcesCommand(app, exit_code);
  AddRecordCommand(app, exit_code);
  AddShowCommand(app, exit_code);
  AddMonitorCommand(app, exit_code);
  AddFootprintCommands(app, exit_code);
  AddEddCommand(app, exit_code);
  AddTimelineCommand(app, exit_code);
  AddExportCommand(app, exit_code);
  AddCompareCommand(app, exit_code);
  AddPrecisionCommand(app, exit_code);
  AddModelsCommand(app, exit_code);
  AddDescribeCommand(app, exit_code);
  AddTrainCommand(app, exit_code);
  AddPredictCommand(app, exit_code);
  AddEvaluateCommand(app, exit_code);
  AddAblateCommand(app, exit_code);
  AddCalibrateCommand(app, exit_code);
  AddBottlenecksCommand(app, exit_code);
  AddCostCommand(app, exit_code);
  AddTradeoffCommand(app, exit_code);
  AddDemoCommand(app, exit_code);
  AddCompletionCommand(app, exit_code);
  const Parsing parsing = app.parse(argc, argv);
  if (parsing.outcome == Parsing::Outcome::kAnswered) return kSuccess;
  if (parsing.outcome == Parsing::Outcome::kRefused) {
    std::string where = "beryl";
    for (const Command* command : app.chosen_subcommands()) where += " " + command->get_name();
    // What is missing is often just misspelt; then that is the better message.
    const std::string unknown = UnknownWord(app, argc, argv);
    fmt::print(stderr, "{}: {}\nSee {} --help\n", where,
               unknown.empty() ? parsing.refusal : unknown, where);
    return kMisuse;
  }
  return exit_code;
}

}  // namespace beryl::cli
