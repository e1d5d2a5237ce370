#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/embedded.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter =
    R"(The run is synthetic: generated, not measured. It is three training steps of BERT-base on one GPU, as
PyTorch's profiler would write them, with a power reading every 4 ms, and is built into the program.

EXAMPLES
  beryl demo
  beryl demo -o /tmp/demo.html)";

int RunDemo(const std::string& page_path) {
  auto output = OutputFile::Open(page_path);
  if (!output) return Fail(output.error());
  PipelineOptions options;
  options.timeline = true;
  RunInput run;
  auto power_source = ByteSource::FromMemory(embedded::kDemoPower, "demo_power.csv");
  if (auto ok = AddPower(power_source, options, run); !ok) return Fail(ok.error());
  auto ops_source = ByteSource::FromMemory(embedded::kDemoOps, "demo_ops.json");
  if (auto ok = importers::Import(ops_source, options.import, run.ops); !ok)
    return Fail(ok.error());
  run.context.ops_files = {"a BERT training run"};
  run.context.label = "synthetic";
  auto accounted = AccountRun(std::move(run), options);
  if (!accounted) return Fail(accounted.error());
  const AccountReport report = MakeReport(*accounted, options);

  views::ViewOptions view;
  view.width = TerminalWidth(true);
  view.color = WantColor("auto", true);
  auto screen = OutputFile::Open("-");
  if (!screen) return Fail(screen.error());
  if (auto ok = screen->Commit(views::Write(report, views::Format::kTable, view)); !ok) {
    return Fail(ok.error());
  }
  if (auto ok = output->Commit(views::Write(report, views::Format::kHtml, view)); !ok) {
    return Fail(ok.error());
  }
  fmt::print(
      stderr,
      "\nwrote {}: open it in a browser to click through the tree.\n"
      "Next, your own run: beryl account --ops TRACE --power POWER (see beryl account --help)\n",
      page_path);
  return kSuccess;
}

}  // namespace

void AddDemoCommand(Command& app, int& exit_code) {
  auto page = std::make_shared<std::string>("report.html");
  Command* command =
      app.add_subcommand("demo", "Account a small BERT training run that comes with the program");
  command->footer(kFooter);
  command->add_option("-o,--output", *page, "Where to write the page")
      ->type_name("FILE")
      ->capture_default_str();
  command->callback([page, &exit_code] { exit_code = RunDemo(*page); });
}

}  // namespace beryl::cli
