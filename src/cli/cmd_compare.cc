#include <utility>

#include "cli/arguments.h"
#include "flows/compare_request.h"
#include "flows/compare_runs.h"
#include "flows/side_by_side.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "compare", "Compare runs: energy, similarity, differences; fail if one takes too much more",
    R"(OUTPUT
  verdict       whether the energy changed, its 95 % interval, and how many more runs would tell
  totals        energy per step (or of the whole run, if a run has no steps), by phase
  similarity    Pearson's correlation of energy and of power, over the names that both runs have
  differences   the mean over these names, row minus column; with two sides also what differs most:
                the deepest parts of the program that explain it, each joule in one line
  noise         the difference that chance explains (95 %). Lines marked (noise) may be chance; of the others,
                on average at most --false-discovery are
Names are operations with repeated layers folded; --level compares modules or a depth instead. Runs
may be of different programs: names that only one of them has are counted and marked.

SEVERAL RUNS
  A1 A2 A3 -- B1 B2 B3 compares two sides by how much their runs differ. With one run per side, its steps or the
  rounds of record --repeat show how it varies, and the variation between runs is assumed (the result says how
  much). Recordings without operations are compared by the energy of the watched processes, or else of the
  machine.

RUNS BESIDE MODELS
  Instead of a run, NAME|CONFIG@PROFILE is the prediction of a profile for a model, and NAME|CONFIG is the
  model's description. The result is one tree with a column for each, and the differences from the first:
  measured against predicted, two machines, two configurations. Runs take the names of
  the first model; the models get the input of the first run, or that of --batch, --seq, --prompt and so on.
  --columns, --depth and levels of the tree, such as --level ml, put runs alone on one tree.

AS A GATE
  --fail-above 5% fails (exit 1) if a later side takes over 5 % more than the first and chance does not
  explain it: the lower end of the change's interval is above 5 %. A verdict that is not certain says how
  many more runs would decide. --fail-above 'encoder/**=10%' checks a part. Unknown energy never passes,
  nor does incomplete input without --allow-incomplete.

EXAMPLES
  beryl compare before.beryl after.beryl
  beryl compare old1.beryl old2.beryl old3.beryl -- new1.beryl new2.beryl new3.beryl
  beryl compare before.beryl after.beryl --fail-above 5% --fail-above '**/attention=10%'
  beryl compare l6.beryl l8.beryl l10.beryl l12.beryl --format svg -o alike.svg
  beryl compare a.beryl b.beryl --picture diff --format svg -o diff.svg
  beryl compare run.beryl bert.json@gtx1080ti-i9-7900x
  beryl compare bert-base-uncased@h100-sxm bert-base-uncased@a100-80gb-sxm --batch 8 --seq 128)"};

struct CompareArguments {
  RunArguments run;
  OutputArguments output;
  std::string labels;
  std::string level;
  std::optional<views::ComparePart> picture;
  std::vector<std::string> gates;
  bool allow_incomplete = false;
  std::string false_discovery = "5%";
  std::optional<int> top;
  // Used if a model is among the operands.
  ModelArguments described;
  std::optional<int> depth;
  std::string columns;
};

// Whether an option asks for a tree with columns, as if a model were given. "module" is also a
// level of names.
bool WantsTree(const CompareArguments& arguments) {
  const auto level = ParseLevel(arguments.level);
  return !arguments.columns.empty() || arguments.depth || (level && level != Level::kModule);
}

// Puts runs and models on one tree. --level then means the level of the tree.
Result<int> CompareOnOneTree(const CompareArguments& arguments, flows::ComparePlan plan) {
  TRY(views::CheckFormat(views::kFormats<SideBySide>, arguments.output.format,
                         "a comparison on one tree"));
  const auto level = TRY(flows::LevelOnTree(arguments.level));
  TRY(flows::LabelOperands(arguments.labels, plan));
  flows::SideBySideOptions options;
  options.run = TRY(ReadOptions(arguments.run));
  options.describe = TRY(flows::DescribeOptionsOf(arguments.described));
  options.given = flows::GivenBy(arguments.described);
  options.columns = SplitNames(arguments.columns);
  const auto compare = [&](auto&) -> Result<SideBySide> {
    auto set = TRY(flows::CompareWithModels(plan.on_tree, options));
    TRY(views::CheckLabels(set.tree));
    return set;
  };
  return WriteResult(arguments.output, compare, {arguments.depth, level, ""});
}

Result<int> RunCompare(const CompareArguments& arguments) {
  const auto plan =
      TRY(flows::PlanComparison({.operands = arguments.run.files.runs,
                                 .tree = WantsTree(arguments),
                                 .gates = !arguments.gates.empty() || arguments.picture,
                                 .only_two = arguments.picture == views::ComparePart::kDifferences},
                                kSeparator));
  if (!plan.on_tree.empty()) return CompareOnOneTree(arguments, plan);
  flows::RunFiles files = arguments.run.files;
  files.runs = plan.runs;
  TRY(flows::CheckRunFiles(files));
  const auto options = TRY(ReadOptions(arguments.run));
  auto compare =
      TRY(flows::CompareOptionsOf(arguments.level, arguments.gates, arguments.false_discovery));
  compare.sides = plan.sides;
  const auto labels = TRY(flows::LabelSides(files.runs, plan.sides, arguments.labels));
  auto output = TRY(Output::Open(arguments.output));
  Comparison comparison = TRY(flows::CompareRuns(files, labels, options, std::move(compare)));
  const bool incomplete = !comparison.provenance.incomplete.empty() && !arguments.allow_incomplete;
  if (incomplete) flows::FailIncomplete(comparison);

  views::ViewOptions view = output.view();
  view.top = arguments.top;
  const auto otherwise = output.format() == views::Format::kCsv && plan.two
                             ? views::ComparePart::kDifferences
                             : views::ComparePart::kMatrices;
  const std::string gates = views::WriteGates(comparison, PlainView());
  const bool passed = flows::KeepsGates(comparison);
  TRY(output.Write(
      views::Write(comparison, output.format(), arguments.picture.value_or(otherwise), view),
      views::NotesOf(comparison), passed ? gates : ""));
  if (passed) return kSuccess;
  Say(gates + (incomplete ? kIncompleteHint : ""));
  return kFailure;
}

}  // namespace

void AddCompare(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunCompare);
  command.Argument("RUN", arguments.run.files.runs,
                   "Runs, or models as NAME|CONFIG[@PROFILE]; the first is the baseline; -- "
                   "separates groups of runs");
  command.KeepSeparators();
  AddLabelsOption(command, arguments.labels);
  command.Option("--level LEVEL", arguments.level,
                 "Level of names: operation, layer (innermost module), module, or a depth in the "
                 "tree; on one tree: model, module, ml, math or kernel");
  command.Option(
      "--fail-above [PATTERN=]SHARE", arguments.gates,
      "Fail if a later run takes this much more than the first, beyond chance; repeatable");
  command.Option("--false-discovery SHARE", arguments.false_discovery,
                 "How many of the lines found to differ may be chance, on average");
  AddAllowIncompleteOption(command, arguments.allow_incomplete);
  AddTopOption(command, arguments.top,
               "Differences to list; default: 15 in a table, 20 in a picture");
  command.Choice<std::optional<views::ComparePart>>(
      "--picture", arguments.picture,
      {{"heatmap", views::ComparePart::kMatrices},
       {"totals", views::ComparePart::kTotals},
       {"diff", views::ComparePart::kDifferences}},
      "What svg and csv show; default: heatmap, or diff in csv of two runs");
  AddSizeOptions(command, arguments.described.batch, arguments.described.seq,
                 "default for models: as the first run, else 1 and 128 tokens");
  AddDescribeOptions(command, arguments.described);
  AddDepthOption(command, arguments.depth, "On one tree: levels to show");
  AddColumnsOption(command, arguments.columns,
                   "On one tree: columns to compare: energy,time,flops,...");
  AddAccountOptions(command, arguments.run);
  AddOutputOptions(command, arguments.output, views::kFormats<Comparison>);
}

}  // namespace beryl::cli
