#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/analysis_command.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/compare_models.h"
#include "cli/dataset_arguments.h"
#include "cli/pipeline.h"
#include "cli/run_arguments.h"
#include "cli/terminal.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Set runs side by side: what each took, how alike they are, what differs; fail if one takes "
    "too "
    "much more";

constexpr const char* kFooter =
    R"(WHAT IT SAYS
  totals        energy of a step (or of the whole run, if one of them tells no steps), by phase
  similarity    Pearson's correlation over the names both runs have, of energy and of power
  differences   the mean over these names, row minus column; and with two runs what differs most:
                the deepest parts of the program that explain it, each joule in one line
  noise         what chance explains, from the deviation over the steps of both runs (Welch's t, 95 %)
Names are operations with layers added up; --level takes modules or a depth instead. Runs may be of
different programs: what only one of them has is counted and marked.

RUNS BESIDE MODELS
  Instead of a run, NAME|CONFIG@PROFILE is what a profile predicts for a model, and NAME|CONFIG what the
  model is made of. Then there is one tree with a column for each, and the differences from the first:
  measured against predicted, two machines, two configurations. Runs take the names of the first model;
  what goes into the models is what went into the first run, or --batch, --seq, --prompt and so on.

AS A GATE
  --fail-above 5% fails (exit 1) if a later run takes more than 5 % above the first. What decides is the
  mean; if the noise reaches from there to the limit, it still fails and says that it is not certain.
  --fail-above 'encoder/**=10%' is about a part. Energy that is not known never passes.

EXIT STATUS
  0 done   1 failed (unreadable input, a gate that does not hold)   2 wrong use

EXAMPLES
  beryl compare before.beryl after.beryl
  beryl compare before.beryl after.beryl --fail-above 5% --fail-above '**/attention=10%'
  beryl compare l6.beryl l8.beryl l10.beryl l12.beryl --format svg -o alike.svg
  beryl compare a.beryl b.beryl --picture diff --format svg -o diff.svg
  beryl compare bert.beryl albert.beryl --level layer --format csv
  beryl compare run.beryl bert.json@gtx1080ti-i9-7900x
  beryl compare bert-base-uncased@h100-sxm bert-base-uncased@a100-80gb-sxm --batch 8 --seq 128)";

struct CompareArguments {
  RunArguments run;
  OutputArguments output;
  std::string labels;
  std::string level;
  std::string picture;
  std::vector<std::string> gates;
  int top = -1;
  // With models among the operands.
  ModelArguments described;
  std::optional<int> depth;
  std::string columns;
};

// The half that is given a model. --level is of the tree there.
int CompareWithModels(const CompareArguments& arguments) {
  if (!arguments.gates.empty() || !arguments.picture.empty()) {
    return Fail(MisuseError("--fail-above and --picture are of runs; a model was given"));
  }
  if (arguments.output.format == "svg") {
    return Fail(MisuseError("--format svg is of runs; with a model there are table, json and csv"));
  }
  std::vector<std::string> inputs = arguments.run.runs;
  for (std::string& input : inputs) input = input.substr(0, input.rfind('@'));
  if (auto ok = CheckOutput(arguments.output.output, inputs); !ok) return Fail(ok.error());
  auto output = OutputFile::Open(arguments.output.output);
  if (!output) return Fail(output.error());
  views::ViewOptions view = ViewOf(arguments.output);
  TakeTreeArguments({arguments.depth, arguments.level, arguments.columns}, view);
  if (!arguments.level.empty() && !view.level) {
    return Fail(MisuseError(
        fmt::format("--level '{}': with a model, expected model, module, ml, math or kernel",
                    arguments.level)));
  }
  const std::vector<std::string> columns = std::exchange(view.columns, {});
  return CompareModels(
      {arguments.run, arguments.described, arguments.labels, columns, arguments.output}, *output,
      view);
}

Result<tree::CompareOptions> OptionsOf(const CompareArguments& arguments) {
  tree::CompareOptions options;
  if (!arguments.level.empty()) {
    const auto level = tree::ParseNameLevel(arguments.level);
    if (!level) {
      return MisuseError(fmt::format(
          "--level '{}': expected operation, layer, module, or a depth from 1", arguments.level));
    }
    options.level = *level;
    options.differences_level = *level;
  }
  for (const std::string& text : arguments.gates) {
    auto gate = tree::ParseGate(text);
    if (!gate) return gate.error();
    options.gates.push_back(std::move(*gate));
  }
  return options;
}

views::ComparePart PartOf(const CompareArguments& arguments) {
  if (arguments.picture == "totals") return views::ComparePart::kTotals;
  if (arguments.picture == "heatmap") return views::ComparePart::kMatrices;
  if (arguments.picture == "diff") return views::ComparePart::kDifferences;
  const bool rows = arguments.output.format == "csv" && arguments.run.runs.size() == 2;
  return rows ? views::ComparePart::kDifferences : views::ComparePart::kMatrices;
}

int RunCompare(const CompareArguments& arguments) {
  const OutputArguments& out = arguments.output;
  if (arguments.run.runs.size() < 2) {
    return Fail(MisuseError(
        "compare needs two run files or more (beryl import makes them), or models (see --help)"));
  }
  if (std::any_of(arguments.run.runs.begin(), arguments.run.runs.end(), IsModelOperand)) {
    return CompareWithModels(arguments);
  }
  if (arguments.picture == "diff" && arguments.run.runs.size() != 2) {
    return Fail(MisuseError("--picture diff is of two runs; name two"));
  }
  if (auto ok = CheckFiles(arguments.run, out.output); !ok) return Fail(ok.error());
  const auto options = ReadOptions(arguments.run);
  if (!options) return Fail(options.error());
  const auto compare = OptionsOf(arguments);
  if (!compare) return Fail(compare.error());
  const auto labels = LabelsOf(arguments.run, arguments.labels);
  if (!labels) return Fail(labels.error());
  auto output = OutputFile::Open(out.output);
  if (!output) return Fail(output.error());

  std::vector<AccountedRun> runs;
  std::vector<AccountReport> reports;
  auto ok = ForEachRun(arguments.run, *options, [&](AccountedRun run) {
    reports.push_back(MakeReport(run, *options));
    ForgetOperations(run);
    runs.push_back(std::move(run));
    return Result<bool>(true);
  });
  if (!ok) return Fail(ok.error());
  Comparison comparison = tree::Compare(SidesOf(*labels, runs), *compare);
  comparison.runs = std::move(reports);
  comparison.provenance = ProvenanceOf(comparison.runs);

  views::ViewOptions view;
  if (arguments.top >= 0) view.top = arguments.top;
  view.width = TerminalWidth(out.to_stdout());
  view.color = WantColor(out.color, out.to_stdout());
  const std::string text = views::Write(comparison, FormatOf(out.format), PartOf(arguments), view);
  if (auto written = output->Commit(text); !written) return Fail(written.error());
  view.color = false;
  const bool passed = std::all_of(comparison.gates.begin(), comparison.gates.end(),
                                  [](const GateVerdict& gate) { return gate.passed; });
  if (out.format != "table") {
    SayNotes(comparison.notes);
  }
  if (!passed || out.format != "table" || !out.to_stdout()) {
    fmt::print(stderr, "{}", views::WriteGates(comparison, view));
  }
  return passed ? kSuccess : kFailure;
}

}  // namespace

void AddCompareCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<CompareArguments>();
  Command* command = app.add_subcommand("compare", kDescription);
  command->footer(kFooter);
  command->add_option("RUN", arguments->run.runs,
                      "Run files, each a run, or models, NAME|CONFIG[@PROFILE]; the first is the "
                      "baseline");
  command->add_option("--labels", arguments->labels, "What to call the runs; default: their files")
      ->type_name("A,B,...");
  command
      ->add_option("--level", arguments->level,
                   "Of names: operation, layer (innermost module), module, or a depth in the "
                   "tree; with a model: module, ml, math")
      ->type_name("LEVEL");
  command
      ->add_option("--fail-above", arguments->gates,
                   "Fail if a later run takes more than this above the first; may be given several "
                   "times")
      ->type_name("[PATTERN=]SHARE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--top", arguments->top, "Differences to list (15 in a table, 20 in a picture)")
      ->type_name("N")
      ->check(Range(0, 1'000'000));
  command
      ->add_option("--picture", arguments->picture,
                   "What svg and csv show; default: heatmap, and diff in csv of two runs")
      ->check(IsMember({"heatmap", "totals", "diff"}));
  AddSizeOptions(*command, arguments->described.batch, arguments->described.seq,
                 "of models: as the first run, else 1, and 128 tokens");
  AddDescribeOptions(*command, arguments->described);
  command->add_option("--depth", arguments->depth, "With a model: levels of the tree to show")
      ->type_name("N")
      ->check(NonNegativeNumber());
  command
      ->add_option("--columns", arguments->columns,
                   "With a model: what to compare: energy,time,flops,...")
      ->type_name("A,B,...");
  AddAccountOptions(*command, arguments->run);
  AddOutputOptions(*command, arguments->output, {"table", "json", "csv", "svg"});
  command->callback([arguments, &exit_code] { exit_code = RunCompare(*arguments); });
}

}  // namespace beryl::cli
