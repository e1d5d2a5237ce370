#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription = "Power over time, and which layer was running";

constexpr const char* kFooter = R"(WHAT COMES OUT
  The power of every channel over the run, in equal slices of time, with the layer that ran most in each
  slice (on the devices that the channel feeds; only the innermost operation of a stack of calls runs), the
  phase, and where steps begin. Layers are the outermost like ones, such as encoder layers; --node takes
  the parts of that node instead, --level all nodes that deep in the tree. Everything else is "other".

  --mean lays all steps over each other and shows the mean at the same time since the start of a step.

EXAMPLES
  beryl timeline --ops trace.json.gz --power power.csv
  beryl timeline run.beryl --mean --format svg -o power.svg
  beryl timeline run.beryl --step 2 --node encoder/layer_0 --format svg -o step.svg
  beryl timeline run.beryl --slices 2000 --format csv -o slices.csv)";

struct TimelineArguments {
  RunArguments run;
  OutputArguments output;
  std::string node;
  int level = -1;
  std::string step;
  bool mean = false;
  size_t slices = 600;
};

Result<tree::LayerChoice> ReadChoice(const TimelineArguments& arguments, const ModelTree& tree) {
  tree::LayerChoice choice;
  if (arguments.level >= 0) choice.level = arguments.level;
  if (arguments.node.empty()) return choice;
  const auto nodes = FindNodes(tree, arguments.node);
  if (nodes.empty()) {
    const auto near = NearPaths(tree, arguments.node, 5);
    return MisuseError(
        fmt::format("--node '{}': no such node{}", arguments.node,
                    near.empty() ? "; beryl edd shows what there is"
                                 : fmt::format("; near it are:\n  {}", fmt::join(near, "\n  "))));
  }
  choice.node = nodes.front();
  return choice;
}

Result<std::optional<size_t>> ReadStep(const std::string& text, const OpTrace& ops) {
  if (text.empty()) return std::optional<size_t>();
  for (size_t step = 0; step < ops.steps.size(); ++step) {
    if (ops.steps[step].name == text) return std::optional<size_t>(step);
  }
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && text.size() < 10 && std::stoul(text) < ops.steps.size()) {
    return std::optional<size_t>(std::stoul(text));
  }
  if (ops.steps.empty()) {
    return MisuseError(fmt::format("--step {}: the trace tells no steps apart", text));
  }
  return MisuseError(fmt::format("--step {}: there are {}, 0 to {} (or by name, {} to {})", text,
                                 ops.steps.size(), ops.steps.size() - 1, ops.steps.front().name,
                                 ops.steps.back().name));
}

Result<std::string> MakeTimeline(const TimelineArguments& arguments, const AccountedRun& run,
                                 const AccountReport& report, const views::ViewOptions& view) {
  auto options = ReadOptions(arguments.run);
  if (!options) return options.error();
  auto choice = ReadChoice(arguments, run.built.tree);
  if (!choice) return choice.error();
  account::TimelineOptions wanted;
  wanted.slices = arguments.slices;
  wanted.mean = arguments.mean;
  auto step = ReadStep(arguments.step, run.input.ops);
  if (!step) return step.error();
  wanted.step = *step;
  if (arguments.mean && run.input.ops.steps.size() < 2) {
    return MisuseError("--mean: the trace tells no two steps apart");
  }
  wanted.layers = tree::GroupByLayer(run.built, run.folded, report.tree.columns, *choice);
  const Timeline timeline = account::MakeTimeline(run.input.power, run.input.ops, options->account,
                                                  run.footprint, wanted);
  return views::Write(report, timeline, FormatOf(arguments.output.format), view);
}

}  // namespace

void AddTimelineCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<TimelineArguments>();
  Command* command = app.add_subcommand("timeline", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  AddAccountOptions(*command, arguments->run);
  auto* node =
      command->add_option("--node", arguments->node, "Colour the parts of this node: path or end")
          ->type_name("PATH");
  command->add_option("--level", arguments->level, "Colour all nodes this deep; 1: the top ones")
      ->type_name("N")
      ->check(Range(1, 200))
      ->excludes(node);
  auto* step = command->add_option("--step", arguments->step, "Only this step: its number or name")
                   ->type_name("STEP");
  command->add_flag("--mean", arguments->mean, "The mean over all steps, from the start of each")
      ->excludes(step);
  command->add_option("--slices", arguments->slices, "Slices of time")
      ->type_name("N")
      ->check(Range(1, 100'000))
      ->capture_default_str();
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] {
    exit_code = RunAnalysis(
        arguments->run, arguments->output,
        [&](const AccountedRun& run, const AccountReport& report, const views::ViewOptions& view) {
          return MakeTimeline(*arguments, run, report, view);
        });
  });
}

}  // namespace beryl::cli
