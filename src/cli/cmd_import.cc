#include "cli/arguments.h"
#include "flows/save_run.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "import", "Put operation traces and power into one small file that every command can read",
    R"(A run file (*.beryl) holds operations, power readings and where they came from. It is smaller than the
compressed trace, and accounting it takes a tenth of the time or less. Every command that takes --ops
and --power accepts a run file instead. r0.beryl+r1.beryl joins the run files of one run's ranks.

EXAMPLES
  beryl import -o run.beryl --ops trace.json.gz --power power.csv
  beryl account run.beryl
  beryl import -o two.beryl --rank 0 --ops r0.json --power p0.csv --rank 1 --ops r1.json --power p1.csv
  beryl import -o run.beryl --ops logs/plugins/profile/2026_11_16 --power power.csv)"};

struct ImportArguments {
  RunArguments run;
  std::string output;
  bool force = false;  // looked at before this command runs
};

Result<int> RunImport(const ImportArguments& arguments) {
  const flows::RunFiles& files = arguments.run.files;
  TRY(flows::CheckOneRun(files));
  const auto options = TRY(ReadOptions(arguments.run));
  auto output = TRY(GrowingFile::Open(arguments.output));
  const auto saved = TRY(flows::SaveRun(files, options, output));
  Say("wrote {}: {} operations, {} power readings of {} channel(s), {}\n{}{}",
      Printable(arguments.output), FormatCount(saved.operations), FormatCount(saved.readings),
      saved.channels, FormatBytes(output.size()), views::WriteNotes(saved.notes, kFlag),
      views::WriteIncomplete(saved.provenance));
  return kSuccess;
}

}  // namespace

void AddImport(Command& program, const char* group) {
  auto [command, arguments] = program.Subcommand(kText, group, RunImport);
  AddInputOptions(command, arguments.run);
  command
      .OutputOption("-o,--output FILE", arguments.output, "Run file to write; - is standard output")
      .Required();
  command.Flag("--force", arguments.force, "Replace the file of -o if it is a run file");
  AddReadingOptions(command, arguments.run);
}

}  // namespace beryl::cli
