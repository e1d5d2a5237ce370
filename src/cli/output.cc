#include "cli/output.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/ranges.h>

namespace beryl::cli {
void AddOutputOptions(Command& command, OutputArguments& arguments, views::Formats formats) {
  command.Choice("--format", arguments.format, formats.Named(), "Output format");
  AddOutputFileOption(command, arguments.output);
  command.Option("--color", arguments.color, "Use colour in tables",
                 OneWordOf({"auto", "always", "never"}));
  if (!formats.Has(views::Format::kCsv)) return;
  command.Option("--csv", arguments.csv,
                 "raw: in CSV, leave text as it is that a spreadsheet would run",
                 OneWordOf({"safe", "raw"}));
}

void AddTreeOptions(Command& command, TreeArguments& arguments) {
  AddDepthOption(
      command, arguments.depth,
      "Levels of the tree to show; default: all, or in a table as many as fit on a screen");
  AddLevelOption(command, arguments.level);
  AddColumnsOption(command, arguments.columns,
                   "Columns of the tree to show: energy,time,power,flops,...");
}

void TakeTreeArguments(const TreeArguments& arguments, views::ViewOptions& view) {
  view.depth = arguments.depth;
  view.level = arguments.level;
  view.columns = SplitNames(arguments.columns);
}

Result<Output> Output::Open(const OutputArguments& arguments) {
  return Output(arguments, TRY(OutputFile::Open(arguments.output)));
}

views::ViewOptions Output::view() const {
  views::ViewOptions view;
  view.flag = kFlag;
  view.width = TerminalWidth(arguments_.to_stdout());
  view.color = arguments_.color == "always" ||
               (arguments_.color == "auto" && arguments_.to_stdout() && ShowsColor());
  return view;
}

Output::~Output() { Say(views::WriteNotes(notes_, kFlag)); }

Status Output::Write(const std::string& bytes, const std::vector<Note>& notes,
                     const std::string& beside) {
  const bool raw = format() == views::Format::kCsv && arguments_.csv == "raw";
  TRY(file_.Commit(raw ? views::RawCsv(bytes) : bytes));
  notes_.clear();
  const bool is_read = arguments_.to_stdout() || format() == views::Format::kTable;
  if (is_read && views::HasNotes(format())) return {};
  Say(beside + views::WriteNotes(notes, kFlag));
  return {};
}

flows::LiveView LookView(int out, bool draws, const views::ViewOptions& view,
                         const std::function<void(const PowerLook&)>& print) {
  const auto screen = std::make_shared<std::unique_ptr<Screen>>();
  flows::LiveView live;
  live.show = [=, is_first = true](const PowerLook& look) mutable {
    // Opened late: from now on signals are messages.
    if (std::exchange(is_first, false) && draws) *screen = Screen::Open(out, STDIN_FILENO);
    if (!*screen) return print(look);
    views::ViewOptions fitting = view;
    fitting.width = (*screen)->columns();
    fitting.rows = std::max(1, (*screen)->rows() - 1);
    (*screen)->Draw(views::Write(look, views::Format::kTable, fitting) +
                    ((*screen)->reads_keys() ? "q ends" : "Ctrl-C ends"));
  };
  live.wants_end = [screen] { return *screen && (*screen)->WantsEnd(); };
  return live;
}

views::ViewOptions PlainView() {
  views::ViewOptions view;
  view.flag = kFlag;
  view.width = TerminalWidth(false);
  return view;
}

}  // namespace beryl::cli
