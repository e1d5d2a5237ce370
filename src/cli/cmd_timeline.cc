#include "cli/arguments.h"
#include "flows/analyse_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {"timeline", "Power over time, and which layer was running", R"(OUTPUT
  The power of every channel over the run, in equal slices of time, with the layer that ran most in each
  slice (on the devices that the channel feeds; of nested operations only the innermost runs), the phase,
  and where steps begin. Layers are the outermost repeated ones, such as encoder layers; --node uses the
  parts of that node instead, --level all nodes at that depth of the tree. Everything else is "other".

  --mean overlays all steps and shows the mean at the same time since the start of a step.

EXAMPLES
  beryl timeline --ops trace.json.gz --power power.csv
  beryl timeline run.beryl --mean --format svg -o power.svg
  beryl timeline run.beryl --step 2 --node encoder/layer_0 --format svg -o step.svg
  beryl timeline run.beryl --slices 2000 --format csv -o slices.csv)"};

struct TimelineArguments {
  AnalysisArguments analysis;
  flows::TimelineRequest request;
};

Result<int> RunTimeline(const TimelineArguments& arguments) {
  return RunAnalysis(arguments.analysis, [&](const Analysis& analysis) -> Result<std::string> {
    const auto timeline = TRY(flows::TimelineOf(analysis.run, analysis.report, arguments.request));
    return views::Write(analysis.report, timeline, arguments.analysis.output.format, analysis.view);
  });
}

}  // namespace

void AddTimeline(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunTimeline);
  AddOneRunOptions(command, arguments.analysis.run);
  const auto node = AddNodeOption(command, arguments.request.node,
                                  "Colour the parts of this node: its path, or the end of it");
  command
      .Option("--level N", arguments.request.level,
              "Colour all nodes at this depth; 1: the top nodes", Between(1, 200))
      .Excludes({node});
  command.Flag("--mean", arguments.request.mean, "The mean over the steps, from the start of each");
  AddSlicesOption(command, arguments.request.slices, "Time slices");
  AddOutputOptions(command, arguments.analysis.output, views::kFormats<Timeline>);
}

}  // namespace beryl::cli
