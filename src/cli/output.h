// The output of a command: where it goes and in which format.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/terminal.h"
#include "cli/command_line.h"
#include "flows/live_view.h"
#include "flows/option_words.h"
#include "types/note.h"
#include "views/views.h"

namespace beryl::cli {

struct OutputArguments {
  views::Format format = views::Format::kTable;
  std::string output = "-";
  std::string color = "auto";
  std::string csv = "safe";

  bool to_stdout() const { return output == "-"; }
};

// --format (one of `formats`), -o, --color and, if CSV is one of them, --csv.
void AddOutputOptions(Command& command, OutputArguments& arguments, views::Formats formats);
// Only -o.
inline void AddOutputFileOption(Command& command, std::string& output) {
  command.OutputOption("-o,--output FILE", output, "Output file; - is standard output");
}

// --top: how many rows to list. Empty: as many as suit the format.
inline void AddTopOption(Command& command, std::optional<int>& top, const std::string& help) {
  command.Option("--top N", top, help, Between(0, 1'000'000));
}

// The part of a tree to show.
struct TreeArguments {
  std::optional<int> depth;
  std::optional<Level> level;
  std::string columns;  // separated by commas
};
// --depth, --level, --columns.
void AddTreeOptions(Command& command, TreeArguments& arguments);
inline void AddDepthOption(Command& command, std::optional<int>& depth, const std::string& help) {
  command.Option("--depth N", depth, help, From0());
}
inline void AddLevelOption(Command& command, std::optional<Level>& level) {
  command.Choice("--level", level, flows::LevelWords(), "Deepest level of the tree to show");
}
inline void AddColumnsOption(Command& command, std::string& columns, const std::string& help) {
  command.Option("--columns A,B,...", columns, help);
}
void TakeTreeArguments(const TreeArguments& arguments, views::ViewOptions& view);

// Opens the output before the work, so that a wrong path fails at once. The file appears complete
// or not at all.
class Output {
 public:
  static Result<Output> Open(const OutputArguments& arguments);
  // If nothing is written, the notes may be the reason: they go to stderr.
  ~Output();
  Output(Output&&) = default;
  Output& operator=(Output&&) = delete;

  views::Format format() const { return arguments_.format; }
  // With width and colour set.
  views::ViewOptions view() const;
  // For flows that add notes before there is a result.
  std::vector<Note>& notes() { return notes_; }
  // Writes the result. Its notes and the lines `beside` go to stderr if its readers would miss
  // them: if the format has no place for notes, or if it is a file that is not a table, because
  // nobody reads it immediately.
  Status Write(const std::string& bytes, const std::vector<Note>& notes,
               const std::string& beside = "");

 private:
  Output(OutputArguments arguments, OutputFile file)
      : arguments_(std::move(arguments)), file_(std::move(file)) {}

  OutputArguments arguments_;
  OutputFile file_;
  std::vector<Note> notes_;
};

template <typename T>
std::vector<Note> NotesBeside(const T& result) {
  if constexpr (requires { views::NotesOf(result); }) return views::NotesOf(result);
  if constexpr (requires { result.origin.notes; }) return result.origin.notes;
  if constexpr (requires { result.notes; }) return result.notes;
  return {};
}
// Opens the output, then makes the result, and writes both it and its notes. `make` is given the
// notes of the output. `tree`: the part to show, of a result that is a tree.
template <typename Make>
Result<int> WriteResult(const OutputArguments& arguments, const Make& make,
                        const TreeArguments& tree = {}) {
  auto output = TRY(Output::Open(arguments));
  const auto result = TRY(make(output.notes()));
  views::ViewOptions view = output.view();
  TakeTreeArguments(tree, view);
  if constexpr (requires { views::CheckColumns(result, view); }) {
    TRY(views::CheckColumns(result, view));
  } else if constexpr (requires { views::CheckColumns(result.tree.folded, view); }) {
    TRY(views::CheckColumns(result.tree.folded, view));
  }
  TRY(output.Write(views::Write(result, output.format(), view), NotesBeside(result)));
  return kSuccess;
}

// For what goes to stderr.
views::ViewOptions PlainView();
// If `draws` and `out` is a terminal, draws looks there, with as many processes as fit and the key
// that ends it. Otherwise `print` gets them.
flows::LiveView LookView(int out, bool draws, const views::ViewOptions& view,
                         const std::function<void(const PowerLook&)>& print);

}  // namespace beryl::cli
