
#include <csignal>

#include "cli/services.h"
#include "flows/near_names.h"

namespace beryl::cli {

// Every command: its group in the help, and the function that adds it, which is in cmd_<name>.cc.
#define BERYL_COMMANDS(COMMAND)             \
  COMMAND("Measure", AddRecord)             \
  COMMAND("Measure", AddShow)               \
  COMMAND("Measure", AddTop)                \
  COMMAND("Measure", AddSources)            \
  COMMAND("Account", AddAccount)            \
  COMMAND("Account", AddImport)             \
  COMMAND("Account", AddRank)               \
  COMMAND("Account", AddDiagram)            \
  COMMAND("Account", AddTimeline)           \
  COMMAND("Account", AddExport)             \
  COMMAND("Compare", AddCompare)            \
  COMMAND("Compare", AddPrecision)          \
  COMMAND("Compare", AddTradeoff)           \
  COMMAND("Predict", AddModels)             \
  COMMAND("Predict", AddProfiles)           \
  COMMAND("Predict", AddDescribe)           \
  COMMAND("Predict", AddPredict)            \
  COMMAND("Predict", AddBottlenecks)        \
  COMMAND("Predict", AddCost)               \
  COMMAND("Predict", AddTrain)              \
  COMMAND("Predict", AddCalibrate)          \
  COMMAND("Predict", AddEvaluate)           \
  COMMAND("Predict", AddAblate)             \
  COMMAND("Serve", AddServe)                \
  COMMAND("Serve", AddMonitor)              \
  COMMAND("Serve", AddLibrary)              \
  COMMAND("Serve", AddPush)                 \
  COMMAND("Serve", AddPull)                 \
  COMMAND("Set up", AddDemo)                \
  COMMAND("Set up", AddCompletion)          \
  COMMAND("As in the paper", AddFootprints) \
  COMMAND("As in the paper", AddEdd)

#define BERYL_DECLARE(group, add) void add(Command& program, const char* group_name);
BERYL_COMMANDS(BERYL_DECLARE)

namespace {

constexpr const char* kFooter =
    R"(Every command has its own help with examples: beryl COMMAND --help

EXAMPLES
  beryl demo                                               see it work in a second
  beryl record -- python train.py                          measure a program
  beryl top                                                what draws power right now
  beryl account --ops trace.json.gz --power run.beryl      where did the joules of my run go?
  beryl import -o run.beryl --ops trace.json.gz --power power.csv
  beryl rank run.beryl                                     which operations take most?
  beryl diagram run.beryl --format svg -o diagram.svg      as a picture
  beryl compare before.beryl run.beryl --fail-above 5%     did it get worse?
  beryl describe bert-base-uncased --batch 8 --seq 128     the work of a model, without a run
  beryl predict bert-base-uncased --batch 8 --seq 128      and its energy)";

}  // namespace

int Run(int argc, char** argv) {
  // If a reader such as head goes away, the program ends quietly.
  std::signal(SIGPIPE, SIG_DFL);
  Command program({"beryl", "Where do a deep-learning program's joules go?", kFooter},
                  VersionText());
#define BERYL_ADD(group, add) add(program, group);
  BERYL_COMMANDS(BERYL_ADD)
  const Command::Parsing parsing = program.Parse(argc, argv);
  if (!parsing.refusal.empty()) {
    const auto chosen = program.chosen();
    const std::string where = chosen ? "beryl " + chosen->name : "beryl";
    // A missing word is often just misspelt; then that is the better message.
    const std::string unknown =
        flows::UnknownWord({argv + 1, argv + argc}, program.subcommands(), chosen);
    Say("{}: {}\nSee {} --help\n", where, unknown.empty() ? parsing.refusal : Printable(unknown),
        where);
    return kMisuse;
  }
  return parsing.result ? *parsing.result : Fail(parsing.result.error());
}

}  // namespace beryl::cli
