#include "cli/analysis_command.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/terminal.h"

namespace beryl::cli {

int RunAnalysis(const RunArguments& arguments, const OutputArguments& output,
                const MakeResult& make, bool timeline, const RunModelArguments& model) {
  if (auto ok = CheckFiles(arguments, output.output); !ok) return Fail(ok.error());
  auto options = ReadOptions(arguments);
  if (!options) return Fail(options.error());
  options->timeline = timeline;
  auto file = OutputFile::Open(output.output);
  if (!file) return Fail(file.error());
  auto run = AccountRunOf(arguments, *options);
  if (!run) return Fail(run.error());
  if (auto ok = GiveModel(model, *run); !ok) return Fail(ok.error());
  const AccountReport report = MakeReport(*run, *options);
  views::ViewOptions view;
  view.width = TerminalWidth(output.to_stdout());
  view.color = WantColor(output.color, output.to_stdout());
  auto text = make(*run, report, view);
  if (!text) return Fail(text.error());
  if (auto ok = file->Commit(*text); !ok) return Fail(ok.error());
  // What a reader has to know and CSV has no place for, or what now lies in a file, is said here.
  if (output.format == "csv" || (!output.to_stdout() && output.format != "table")) {
    view.width = TerminalWidth(false);
    view.color = false;
    fmt::print(stderr, "{}", views::Write(report, views::Format::kSummary, view));
  }
  return kSuccess;
}

views::Format FormatOf(const std::string& name) {
  if (name == "json") return views::Format::kJson;
  if (name == "csv") return views::Format::kCsv;
  if (name == "html") return views::Format::kHtml;
  if (name == "svg") return views::Format::kSvg;
  return views::Format::kTable;
}

void AddPhaseOption(Command& command, std::string& phase) {
  command.add_option("--phase", phase, "Only this pass; default: all")
      ->check(IsMember({"forward", "backward", "optimizer"}));
}

std::optional<Phase> PhaseOf(const std::string& name) {
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    if (PhaseName(phase) == name) return phase;
  }
  return std::nullopt;
}

}  // namespace beryl::cli
