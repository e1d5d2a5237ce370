#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Energy distribution diagrams: how the energy of a node is shared among its parts";

constexpr const char* kFooter = R"(WHAT COMES OUT
  A figure for each level: the parts of the whole program, then those of its largest part, and so on.
  In a figure, a box is a part. Its share is of all boxes of the same figure, and so is its colour. A
  rounded box has parts of its own, a sharp one is an operation; (itself) is what the node did beside its
  parts. Arrows are dataflow, as far as the trace tells it, or, with --model, the model's
  description. Like layers are one box, layer_* x24, unless
  --no-fold is given. Of more than 40 parts the smallest share a box.

  --node takes a path (bert/encoder), its end (encoder), or a pattern: * for anything but /, ** for
  anything. Where a pattern meets several nodes there is a figure for each.

EXAMPLES
  beryl edd --ops trace.json.gz --power power.csv
  beryl edd run.beryl --phase forward --format svg -o edd.svg
  beryl edd run.beryl --node encoder --no-fold --depth 1 --format svg -o encoder.svg
  beryl edd run.beryl --node 'bert/encoder/layer_0/**/dense' --format json)";

constexpr size_t kMostFigures = 12;

struct EddArguments {
  RunArguments run;
  RunModelArguments model;
  OutputArguments output;
  std::string node;
  std::string phase;
  int depth = 4;
  bool no_fold = false;
};

Error NoSuchNode(const std::string& pattern, const ModelTree& tree) {
  const auto near = NearPaths(tree, pattern, 5);
  return MisuseError(
      fmt::format("--node '{}': no such node{}", pattern,
                  near.empty() ? "; beryl edd without --node shows the top ones"
                               : fmt::format("; near it are:\n  {}", fmt::join(near, "\n  "))));
}

Result<std::vector<EnergyDiagram>> DiagramsOf(const EddArguments& arguments,
                                              const AccountedRun& run,
                                              const AccountReport& report) {
  const bool whole = arguments.node.empty();
  bool fold = !arguments.no_fold;
  std::vector<NodeId> nodes = {0};
  if (!whole) {
    nodes = FindNodes(fold ? run.folded.tree : run.built.tree, arguments.node);
    // One layer of several that are folded is still there to be asked for.
    if (nodes.empty() && fold) {
      fold = false;
      nodes = FindNodes(run.built.tree, arguments.node);
    }
    if (nodes.empty()) return NoSuchNode(arguments.node, run.built.tree);
    if (nodes.size() > kMostFigures) {
      return MisuseError(fmt::format(
          "--node '{}' meets {} nodes, the first are {} and {}; more than {} figures "
          "are not readable, name fewer",
          arguments.node, nodes.size(), NodePath(fold ? run.folded.tree : run.built.tree, nodes[0]),
          NodePath(fold ? run.folded.tree : run.built.tree, nodes[1]), kMostFigures));
    }
  }
  const tree::TraceTree& built = fold ? run.folded : run.built;
  const auto& columns = fold ? report.folded.columns : report.tree.columns;
  tree::DiagramOptions options;
  options.phase = PhaseOf(arguments.phase);
  tree::DescribedFlows flows;
  if (run.model && !run.model->flows.empty()) {
    flows = {&run.built.tree, run.model->flows, fold ? run.folded_of : std::vector<NodeId>()};
    options.flows = &flows;
  }
  if (nodes.size() == 1) {
    return tree::MakeDiagrams(run.input.ops, built, columns, nodes[0], arguments.depth, options);
  }
  std::vector<EnergyDiagram> diagrams;
  diagrams.reserve(nodes.size());
  for (const NodeId node : nodes) {
    diagrams.push_back(tree::MakeDiagram(run.input.ops, built, columns, node, options));
  }
  return diagrams;
}

}  // namespace

void AddEddCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<EddArguments>();
  Command* command = app.add_subcommand("edd", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  AddAccountOptions(*command, arguments->run);
  command->add_option("--node", arguments->node, "Whose parts; default: the whole program's")
      ->type_name("PATH");
  command->add_option("--depth", arguments->depth, "Levels, each a figure")
      ->type_name("N")
      ->check(Range(1, 12))
      ->capture_default_str();
  AddPhaseOption(*command, arguments->phase);
  AddRunModelOptions(*command, arguments->model);
  command->add_flag("--no-fold", arguments->no_fold, "Show like layers one by one");
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] {
    exit_code = RunAnalysis(
        arguments->run, arguments->output,
        [&](const AccountedRun& run, const AccountReport& report, const views::ViewOptions& view) {
          auto diagrams = DiagramsOf(*arguments, run, report);
          if (!diagrams) return Result<std::string>(diagrams.error());
          return Result<std::string>(
              views::Write(report, *diagrams, FormatOf(arguments->output.format), view));
        },
        false, arguments->model);
  });
}

}  // namespace beryl::cli
