// A page of plain text for a terminal, line by line.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "types/op_trace.h"
#include "views/text/notes.h"
#include "views/views.h"

namespace beryl::views {

// Phases are told apart by shade, so that the bars also read without colour.
struct PhaseLook {
  const char* glyph;
  const char* color;
  const char* short_name;
};
inline constexpr std::array<PhaseLook, kPhaseCount> kPhaseLooks = {{
    {"█", "\x1b[32m", "fwd"},
    {"▓", "\x1b[34m", "bwd"},
    {"░", "\x1b[33m", "opt"},
}};

inline constexpr int kNarrowest = 60;
inline constexpr int kNarrow = 80;  // below this, some columns are left out
inline constexpr int kGutter = 11;  // left of a plot

inline constexpr const char* kBoldStyle = "\x1b[1m";
inline constexpr const char* kDimStyle = "\x1b[2m";
inline constexpr const char* kWarningStyle = "\x1b[33m";
inline constexpr const char* kFailureStyle = "\x1b[31m";

std::string Blanks(int count);
std::string Padded(std::string_view text, int width);
std::string RightAligned(std::string_view text, int width);
// A name, shortened so that a column of `width` ends with at least `gap` blanks.
std::string NameCell(std::string_view name, int width, int gap = 1);
// A line of a table: a cell for each width, to the right, or, where the width is negative, to the
// left. A cell of width 0 is left out.
std::string Cells(const std::vector<int>& widths, std::initializer_list<std::string_view> texts);
// The width that a column needs for what `text_of` says of all items.
template <typename Items, typename TextOf>
int Widest(const Items& items, int least, TextOf&& text_of) {
  for (const auto& item : items) {
    least = std::max(least, static_cast<int>(DisplayWidth(Printable(text_of(item)))));
  }
  return least;
}

// The first slice of a plot column, and one past its last.
std::pair<size_t, size_t> SlicesOf(size_t column, size_t columns, size_t slices);

class TextPage {
 public:
  // The options have to outlive it.
  explicit TextPage(const ViewOptions& options)
      : options_(options), width_(std::max(options.width, kNarrowest)) {}

  std::string Take() { return std::move(text_); }

  // Whatever `line` holds, it stays one line, and only the page's own styles reach a terminal.
  void Line(std::string_view line = {});
  // Without the blanks at its end.
  void TrimmedLine(std::string_view line) { Line(line.substr(0, line.find_last_not_of(' ') + 1)); }
  std::string Styled(std::string_view text, const char* style) const {
    return options_.color ? fmt::format("{}{}\x1b[0m", style, text) : std::string(text);
  }
  std::string Bold(std::string_view text) const { return Styled(text, kBoldStyle); }
  std::string Dim(std::string_view text) const { return Styled(text, kDimStyle); }

  // Text in as many lines as it takes, broken at blanks. A word wider than the terminal stays
  // whole: it is probably a file or device name.
  void Paragraph(std::string_view text, size_t indent = 0, const char* style = "");
  void SmallPrint(std::string_view text) { Paragraph(text, 0, kDimStyle); }

  // What is missing of the input: above everything else.
  void Incomplete(const Provenance& provenance) {
    for (const std::string& text : IncompleteTexts(provenance)) Paragraph(text, 0, kFailureStyle);
    if (!provenance.incomplete.empty()) Line();
  }

  // The last line: remarks about the numbers, the part of the run, and the tool.
  void Foot(std::string_view said, const Provenance& provenance) {
    const std::string part = provenance.window ? "only " + WindowText(*provenance.window) : "";
    SmallPrint(fmt::format("{}{}{}{}{}", said, said.empty() ? "" : "; ", part,
                           part.empty() ? "" : "; ", ToolText(provenance)));
  }

  // A bar with the share of each phase in `whole` (NaN: none), and its legend.
  std::string PhaseBar(const std::array<double, kPhaseCount>& parts, double whole, int width) const;
  std::string PhaseLegend(const std::array<bool, kPhaseCount>& occurs) const;

  // A plot in blocks, `rows` high and `columns` wide: mean power over slices of time, `unknown`
  // where it is. Below it marks, at shares of the time, and the time.
  void PowerPlot(std::string_view name, const std::vector<double>& slices_w, int rows,
                 size_t columns, const char* unknown);
  void Marks(std::string_view name, const std::vector<double>& shares, size_t columns);
  void TimeAxis(double seconds, size_t columns);

  void Notes(const std::vector<Note>& notes, size_t indent = 0) {
    for (const Note& note : notes) {
      const bool assumed = ClassOf(note.kind) == NoteClass::kAssumed;
      Paragraph(NoteLine(note, options_.flag), indent, assumed ? "" : kWarningStyle);
    }
  }

 protected:
  const ViewOptions& options_;
  int width_;
  std::string text_;
};

// A page about one result, which has to outlive it.
template <typename Result>
class PageOf : public TextPage {
 public:
  PageOf(const Result& result, const ViewOptions& options) : TextPage(options), result_(result) {}

 protected:
  const Result& result_;
};

}  // namespace beryl::views
