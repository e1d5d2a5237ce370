#include "cli/arguments.h"
#include "flows/analyse_run.h"

namespace beryl::cli {
namespace {

constexpr const char* kHelp = R"(OUTPUT
  The energy of every operation, largest first, with repeated layers added together: layer_0 to layer_11
  become one layer, layer_*. Layers are folded by structure, not by a list of names.
  --no-fold   every layer by itself, by its qualified name (bert/encoder/layer_0/output/dense/MatMul)
  --by power  energy divided by time at work. Names of unknown energy are left out. The power of an
              operation that ran only briefly is mostly chance: --min-share leaves such names out
The paper's names for these: stef is rank, tef is rank --no-fold, stpf is rank --by power.

  Devices are added together: each name and phase is one row with the sum over devices; its power is energy
  divided by time at work. json has the devices of each row in `devices`, csv has one row per device. Names
  whose energy is unknown come last, with ?.
  With two or more steps there is a deviation over steps: ± in the table, whiskers in the picture.

EXAMPLES
  beryl rank --ops trace.json.gz --power power.csv
  beryl rank run.beryl --no-fold --phase forward --top 50
  beryl rank run.beryl --by power --min-share 1 --format svg -o power.svg)";

using Kind = OperationRanking::Kind;

struct RankArguments {
  AnalysisArguments analysis;
  analyze::RankingOptions options;
  bool no_fold = false;
  std::optional<int> top;
  double min_share_percent = 0;
};

Result<int> RunRank(const RankArguments& arguments) {
  analyze::RankingOptions options = arguments.options;
  if (arguments.no_fold && options.kind == Kind::kStpf) {
    return MisuseError("--no-fold: power is ranked with repeated layers added together");
  }
  if (arguments.no_fold) options.kind = Kind::kTef;
  options.min_share = arguments.min_share_percent / 100;
  return RunAnalysis(arguments.analysis, [&](Analysis& analysis) -> Result<std::string> {
    analysis.view.top = arguments.top;
    return views::Write(analysis.report, flows::RankRun(analysis.run, options),
                        arguments.analysis.output.format, analysis.view);
  });
}

// `rank` lets the user choose what to rank; each name of the paper is one such choice.
void AddRankAs(Command& program, const char* group, const CommandText& text,
               std::optional<Kind> kind = {}) {
  auto [command, arguments] = program.Subcommand(text, group, RunRank);
  arguments.options.kind = kind.value_or(Kind::kStef);
  AddOneRunOptions(command, arguments.analysis.run);
  if (!kind) {
    command.Choice<Kind>("--by", arguments.options.kind,
                         {{"energy", Kind::kStef}, {"power", Kind::kStpf}}, "What to rank by");
    command.Flag("--no-fold", arguments.no_fold, "Show repeated layers one by one");
  }
  AddPhaseOption(command, arguments.options.phase);
  AddTopOption(command, arguments.top,
               "Names to show; default: 20 in a table, 10 in a picture, all in json and csv");
  command.Option("--min-share PERCENT", arguments.min_share_percent,
                 "Leave out names with less than this share of the energy", Between(0.0, 100.0));
  AddOutputOptions(command, arguments.analysis.output, views::kFormats<OperationRanking>);
}

}  // namespace

void AddRank(Command& program, const char* group) {
  AddRankAs(program, group,
            {"rank", "Rank operations by energy or power: which of them take most", kHelp});
}

void AddFootprints(Command& program, const char* group) {
  AddRankAs(program, group, {"tef", "Tensor energy footprint: as rank --no-fold", kHelp},
            Kind::kTef);
  AddRankAs(program, group, {"stef", "Summarized tensor energy footprint: as rank", kHelp},
            Kind::kStef);
  AddRankAs(program, group,
            {"stpf", "Summarized tensor power footprint: as rank --by power", kHelp}, Kind::kStpf);
}

}  // namespace beryl::cli
