#include "views/text/text_page.h"

#include <cmath>

namespace beryl::views {

std::string Blanks(int count) { return std::string(static_cast<size_t>(std::max(0, count)), ' '); }

std::string Padded(std::string_view text, int width) {
  return std::string(text) + Blanks(width - static_cast<int>(DisplayWidth(text)));
}

std::string RightAligned(std::string_view text, int width) {
  return Blanks(width - static_cast<int>(DisplayWidth(text))) + std::string(text);
}

std::string NameCell(std::string_view name, int width, int gap) {
  return Padded(Ellipsize(Printable(name), static_cast<size_t>(width - gap)), width);
}

std::string Cells(const std::vector<int>& widths, std::initializer_list<std::string_view> texts) {
  std::string line;
  for (size_t i = 0; i < widths.size(); ++i) {
    const std::string_view text = texts.begin()[i];
    if (widths[i] != 0)
      line += widths[i] < 0 ? Padded(text, -widths[i]) : RightAligned(text, widths[i]);
  }
  return line;
}

std::pair<size_t, size_t> SlicesOf(size_t column, size_t columns, size_t slices) {
  const size_t from = column * slices / columns;
  return {from, std::max(from + 1, (column + 1) * slices / columns)};
}

void TextPage::Line(std::string_view line) {
  static constexpr std::array<std::string_view, 8> kStyles = {"\x1b[0m",
                                                              "\x1b[1m",
                                                              kDimStyle,
                                                              kWarningStyle,
                                                              kFailureStyle,
                                                              kPhaseLooks[0].color,
                                                              kPhaseLooks[1].color,
                                                              kPhaseLooks[2].color};
  while (!line.empty()) {
    const auto* const style = std::find_if(kStyles.begin(), kStyles.end(), [&](auto known) {
      return options_.color && line.starts_with(known);
    });
    const size_t plain = style != kStyles.end() ? 0 : std::min(line.find('\x1b', 1), line.size());
    const size_t size = style != kStyles.end() ? style->size() : plain;
    text_ += plain == 0 ? std::string(*style) : Printable(line.substr(0, plain));
    line.remove_prefix(size);
  }
  text_ += '\n';
}

void TextPage::Paragraph(std::string_view text, size_t indent, const char* style) {
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

std::string TextPage::PhaseBar(const std::array<double, kPhaseCount>& parts, double whole,
                               int width) const {
  std::string bar;
  double done = 0;
  int drawn = 0;
  for (size_t phase = 0; phase < kPhaseCount && whole > 0; ++phase) {
    if (!std::isnan(parts[phase])) done += parts[phase];
    const int until = std::min(static_cast<int>(std::lround(done / whole * width)), width);
    std::string piece;
    for (; drawn < until; ++drawn) piece += kPhaseLooks[phase].glyph;
    if (!piece.empty()) bar += Styled(piece, kPhaseLooks[phase].color);
  }
  return bar + Blanks(width - drawn);
}

std::string TextPage::PhaseLegend(const std::array<bool, kPhaseCount>& occurs) const {
  std::string legend;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (!occurs[phase]) continue;
    legend += fmt::format("{}{} {}", legend.empty() ? "bars: " : "  ",
                          Styled(kPhaseLooks[phase].glyph, kPhaseLooks[phase].color),
                          PhaseName(static_cast<Phase>(phase)));
  }
  return legend;
}

void TextPage::PowerPlot(std::string_view name, const std::vector<double>& slices_w, int rows,
                         size_t columns, const char* unknown) {
  static constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                         "▅", "▆", "▇", "█"};
  std::vector<double> watts(columns, std::nan(""));
  double highest = 0;
  for (size_t column = 0; column < columns; ++column) {
    const auto [from, to] = SlicesOf(column, columns, slices_w.size());
    double sum = 0;
    size_t count = 0;
    for (size_t slice = from; slice < to; ++slice) {
      if (std::isnan(slices_w[slice])) continue;
      sum += slices_w[slice];
      ++count;
    }
    if (count == 0) continue;
    watts[column] = sum / static_cast<double>(count);
    highest = std::max(highest, watts[column]);
  }
  for (int row = rows - 1; row >= 0; --row) {
    std::string line = row == rows - 1   ? RightAligned(FormatWatts(highest), kGutter - 1) + " "
                       : row == 0        ? RightAligned("0 W", kGutter - 1) + " "
                       : row == rows / 2 ? NameCell(name, kGutter)
                                         : Blanks(kGutter);
    for (const double watt : watts) {
      if (std::isnan(watt)) {
        line += row == 0 ? unknown : " ";
        continue;
      }
      const double height = highest > 0 ? watt / highest * rows - row : 0;
      const auto eighths = std::clamp(static_cast<int>(std::lround(height * 8)), 0, 8);
      line += kBlocks[static_cast<size_t>(eighths)];
    }
    TrimmedLine(line);
  }
}

void TextPage::Marks(std::string_view name, const std::vector<double>& shares, size_t columns) {
  std::string marks(columns, ' ');
  for (const double share : shares) {
    if (share < 0 || share >= 1) continue;
    marks[static_cast<size_t>(share * static_cast<double>(columns))] = '|';
  }
  TrimmedLine(Padded(name, kGutter) + marks);
}

void TextPage::TimeAxis(double seconds, size_t columns) {
  Line(Blanks(kGutter) + Padded("0", static_cast<int>(columns) - 8) +
       RightAligned(FormatSeconds(seconds), 8));
}

}  // namespace beryl::views
