#include "base/free_name.h"
#include "cli/output.h"
#include "flows/demo_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "demo", "Account a small BERT training run that comes with the program",
    R"(The run is synthetic: generated, not measured. It is three training steps of BERT-base on one GPU, as
PyTorch's profiler would write them, with a power reading every 4 ms, and is built into the program.

EXAMPLES
  beryl demo
  beryl demo -o /tmp/demo.html)"};

constexpr const char* kDefaultPage = "report.html";

struct DemoArguments {
  std::string page;
  bool force = false;
  TreeArguments tree;
};

Result<int> RunDemo(const DemoArguments& arguments) {
  const std::string page_path = arguments.page.empty() ? FreeName(kDefaultPage) : arguments.page;
  if (!arguments.force && HasContent(page_path)) {
    return MisuseError(fmt::format(
        "{}: there is such a file; give another name, or replace it with --force", page_path));
  }
  auto page = TRY(Output::Open({.format = views::Format::kHtml, .output = page_path}));
  const AccountReport report = TRY(flows::AccountDemo());
  auto screen = TRY(Output::Open({}));
  views::ViewOptions view = screen.view();
  TakeTreeArguments(arguments.tree, view);
  TRY(views::CheckColumns(report.folded, view));
  TRY(screen.Write(views::Write(report, screen.format(), view), {}));
  TRY(page.Write(views::Write(report, page.format(), view), {}));
  Say("\nwrote {}: open it in a browser to click through the tree.\n"
      "Next, your own run: beryl account --ops TRACE --power POWER (see beryl account --help)\n",
      Printable(page_path));
  return kSuccess;
}

}  // namespace

void AddDemo(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunDemo);
  command.OutputOption("-o,--output FILE", arguments.page,
                       "Where to write the page; default: report.html, or report-2.html and so on "
                       "if there is one");
  command.Flag("--force", arguments.force, "Replace the file of -o if it exists");
  AddTreeOptions(command, arguments.tree);
}

}  // namespace beryl::cli
