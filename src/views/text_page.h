// A page of plain text for a terminal, line by line.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "types/op_trace.h"
#include "views/notes.h"
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

inline constexpr const char* kDimStyle = "\x1b[2m";
inline constexpr const char* kWarningStyle = "\x1b[33m";

class TextPage {
 public:
  explicit TextPage(const ViewOptions& options)
      : width_(std::max(options.width, kNarrowest)), color_(options.color) {}

  std::string Take() { return std::move(text_); }

  void Line(std::string_view line = {}) {
    text_ += line;
    text_ += '\n';
  }
  std::string Styled(std::string_view text, const char* style) const {
    return color_ ? fmt::format("{}{}\x1b[0m", style, text) : std::string(text);
  }
  std::string Bold(std::string_view text) const { return Styled(text, "\x1b[1m"); }
  std::string Dim(std::string_view text) const { return Styled(text, kDimStyle); }

  // Text in as many lines as it takes, broken at blanks. A word wider than the terminal stays
  // whole: it is somebody's file or device name.
  void Paragraph(std::string_view text, size_t indent = 0, const char* style = "") {
    const std::string clean = Printable(text);
    std::string line(indent, ' ');
    bool has_word = false;
    auto flush = [&] { Line(*style != '\0' ? Styled(line, style) : line); };
    for (const std::string_view word : Split(clean, ' ')) {
      if (has_word && DisplayWidth(line) + 1 + DisplayWidth(word) > static_cast<size_t>(width_)) {
        flush();
        line.assign(indent + 2, ' ');
        has_word = false;
      }
      if (has_word) line += ' ';
      line += word;
      has_word = true;
    }
    flush();
  }

  void Notes(const std::vector<Note>& notes, size_t indent = 0) {
    for (const Note& note : notes) {
      const bool assumed = ClassOf(note.kind) == NoteClass::kAssumed;
      Paragraph(NoteLine(note), indent, assumed ? "" : kWarningStyle);
    }
  }

  static std::string Blanks(int count) {
    return std::string(static_cast<size_t>(std::max(0, count)), ' ');
  }
  static std::string Padded(std::string_view text, int width) {
    const int missing = width - static_cast<int>(DisplayWidth(text));
    return std::string(text) + Blanks(missing);
  }
  static std::string RightAligned(std::string_view text, int width) {
    const int missing = width - static_cast<int>(DisplayWidth(text));
    return Blanks(missing) + std::string(text);
  }

 protected:
  int width_;
  bool color_;
  std::string text_;
};

}  // namespace beryl::views
