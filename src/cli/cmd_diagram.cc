#include "cli/arguments.h"
#include "flows/analyse_run.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter = R"(OUTPUT
  One figure per level: the parts of the whole program, then those of its largest part, and so on.
  In a figure, a box is a part. Its share and its colour are relative to all boxes of that figure. A
  rounded box has parts of its own, a sharp one is an operation; (itself) is what the node did outside
  its parts. Arrows are dataflow, if the trace has it, or, with --model, taken from the model's
  description. Repeated layers are one box, layer_* x24, unless --no-fold is given. With more than 40
  parts, the smallest share a box.

  --node takes a path (bert/encoder), its end (encoder), or a pattern: * for anything but /, ** for
  anything. If a pattern matches several nodes, each has its own figure.

EXAMPLES
  beryl diagram --ops trace.json.gz --power power.csv
  beryl diagram run.beryl --phase forward --format svg -o diagram.svg
  beryl diagram run.beryl --node encoder --no-fold --depth 1 --format svg -o encoder.svg
  beryl diagram run.beryl --node 'bert/encoder/layer_0/**/dense' --format json)";

struct DiagramArguments {
  AnalysisArguments analysis;
  flows::DiagramRequest request;
  bool no_fold = false;
};

Result<int> RunDiagram(const DiagramArguments& arguments) {
  flows::DiagramRequest request = arguments.request;
  request.fold = !arguments.no_fold;
  return RunAnalysis(arguments.analysis, [&](const Analysis& analysis) -> Result<std::string> {
    const auto diagrams = TRY(flows::DiagramsOf(analysis.run, analysis.report, request));
    return views::Write(analysis.report, diagrams, arguments.analysis.output.format, analysis.view);
  });
}

void AddDiagramAs(Command& program, const char* group, const CommandText& text) {
  auto [command, arguments] = program.Subcommand(text, group, RunDiagram);
  AddAnalysisOptions(command, arguments.analysis, views::kFormats<std::vector<EnergyDiagram>>);
  AddNodeOption(command, arguments.request.node,
                "Node whose parts to show; default: the whole program");
  command.Option("--depth N", arguments.request.depth, "Levels to show, one figure each",
                 Between(1, 12));
  AddPhaseOption(command, arguments.request.phase);
  command.Flag("--no-fold", arguments.no_fold, "Show repeated layers one by one");
}

}  // namespace

void AddDiagram(Command& program, const char* group) {
  AddDiagramAs(
      program, group,
      {"diagram", "Energy distribution diagrams: how a node's energy divides among its parts",
       kFooter});
}

void AddEdd(Command& program, const char* group) {
  AddDiagramAs(program, group, {"edd", "Energy distribution diagram: as diagram", kFooter});
}

}  // namespace beryl::cli
