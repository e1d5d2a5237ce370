#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/run_arguments.h"
#include "store/store.h"
#include "version.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Put a run's operation traces and power into one small file that every command reads at once";

constexpr const char* kFooter =
    R"(A run file (*.beryl) holds operations, power readings and where they came from. It is smaller than the
compressed trace, and accounting it takes a tenth of the time or less. Every command that takes --ops
and --power takes it instead; several are the ranks of one run.

EXIT STATUS
  0 done   1 failed   2 wrong use

EXAMPLES
  beryl import -o run.beryl --ops trace.json.gz --power power.csv
  beryl account run.beryl
  beryl import -o two.beryl --rank 0 --ops r0.json --power p0.csv --rank 1 --ops r1.json --power p1.csv
  beryl import -o run.beryl --ops logs/plugins/profile/2026_11_16 --power power.csv)";

struct ImportArguments {
  RunArguments run;
  std::string output;
};

int RunImport(const ImportArguments& arguments) {
  if (auto ok = CheckFiles(arguments.run, arguments.output); !ok) return Fail(ok.error());
  auto options = ReadOptions(arguments.run);
  if (!options) return Fail(options.error());
  auto output = GrowingFile::Open(arguments.output);
  if (!output) return Fail(output.error());
  auto run = ReadRunOf(arguments.run, *options);
  if (!run) return Fail(run.error());
  run->tool = kTool;
  run->ops.Unpack();
  const auto saved = store::Save(*run, *output);
  if (!saved) return Fail(saved.error());
  fmt::print(stderr, "wrote {}: {} operations, {} power readings of {} channel(s), {}\n",
             arguments.output, FormatCount(saved->operations), FormatCount(saved->readings),
             run->power.channels.size(), FormatBytes(output->size()));
  for (const ImportReport& report : run->ops.reports) {
    const uint64_t dropped = report.Total(NoteClass::kDropped);
    if (dropped > 0) SayNotes({{NoteKind::kEventsNotUsed, report.file, {dropped}}});
  }
  return kSuccess;
}

}  // namespace

void AddImportCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<ImportArguments>();
  Command* command = app.add_subcommand("import", kDescription);
  command->footer(kFooter);
  AddInputOptions(*command, arguments->run);
  command
      ->add_option("-o,--output", arguments->output, "The run file to write; - is standard output")
      ->type_name("FILE")
      ->required();
  AddReadingOptions(*command, arguments->run);
  command->callback([arguments, &exit_code] { exit_code = RunImport(*arguments); });
}

}  // namespace beryl::cli
