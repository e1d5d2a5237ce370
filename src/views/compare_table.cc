// Runs side by side on a terminal: what each took, how alike they are, what differs, and whether
// the gates hold.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/matrix_looks.h"
#include "views/text_page.h"

namespace beryl::views {
namespace {

constexpr int kDefaultTop = 15;
constexpr int kWidestBar = 20;
constexpr int kNarrowestBar = 8;  // a narrower one says nothing
constexpr int kLongestLabel = 28;

class CompareTable : public TextPage {
 public:
  CompareTable(const Comparison& comparison, const ViewOptions& options)
      : TextPage(options), comparison_(comparison), options_(options) {}

  std::string Write() {
    Totals();
    Matrices();
    Differences();
    Gates();
    Books();
    return Take();
  }

  std::string Verdicts() {
    Gates();
    return Take();
  }

 private:
  static std::string Signed(Joules energy) {
    return (energy > Joules{} ? "+" : "") + FormatJoules(energy);
  }

  std::string Bar(const RunTotal& total, double largest, int width) const {
    std::string bar;
    double done = 0;
    int drawn = 0;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      done += total.by_phase[phase].value_or(Joules{}).value;
      const int until = largest > 0 ? static_cast<int>(std::lround(done / largest * width)) : 0;
      std::string piece;
      for (; drawn < std::min(until, width); ++drawn) piece += kPhaseLooks[phase].glyph;
      if (!piece.empty()) bar += Styled(piece, kPhaseLooks[phase].color);
    }
    return bar + Blanks(width - drawn);
  }

  void Totals() {
    const auto& totals = comparison_.totals;
    std::array<bool, kPhaseCount> occurs{};
    double largest = 0;
    int label_width = 4;
    bool deviates = false;
    for (const RunTotal& total : totals) {
      largest = std::max(largest, total.attributed.value_or(Joules{}).value);
      label_width = std::max(label_width, static_cast<int>(DisplayWidth(Printable(total.run))));
      deviates = deviates || total.deviation;
      for (size_t phase = 0; phase < kPhaseCount; ++phase) {
        occurs[phase] = occurs[phase] || total.by_phase[phase] != Joules{};
      }
    }
    label_width = std::min(label_width, kLongestLabel) + 2;
    Line(Bold(comparison_.per_step ? "energy of a step, mean over the steps of each run"
                                   : "energy of the whole run"));
    std::string head = RightAligned("operations", 11);
    if (deviates) head += RightAligned("± a step", 11);
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (occurs[phase]) head += RightAligned(PhaseName(static_cast<Phase>(phase)), 10);
    }
    head += RightAligned("idle", 9) + RightAligned("unattr.", 9) + RightAligned("steps", 6);
    const int room = width_ - 3 - label_width - static_cast<int>(DisplayWidth(head));
    const int bar = room >= kNarrowestBar ? std::min(room, kWidestBar) : 0;
    Line(Dim(Blanks(3) + Padded("run", label_width) + Blanks(bar) + head));
    for (size_t run = 0; run < totals.size(); ++run) {
      const RunTotal& total = totals[run];
      std::string line = Padded(LetterOf(run), 3) +
                         Padded(Ellipsize(Printable(total.run), kLongestLabel), label_width);
      if (bar > 0) line += Bar(total, largest, bar);
      line += RightAligned(FormatJoules(total.attributed), 11);
      if (deviates) {
        line += RightAligned(total.deviation ? "±" + FormatJoules(*total.deviation) : "-", 11);
      }
      for (size_t phase = 0; phase < kPhaseCount; ++phase) {
        if (occurs[phase]) line += RightAligned(FormatJoules(total.by_phase[phase]), 10);
      }
      line += RightAligned(FormatJoules(total.idle), 9) +
              RightAligned(FormatJoules(total.unattributed), 9) +
              RightAligned(total.steps > 0 ? FormatCount(total.steps) : "-", 6);
      Line(line);
    }
    std::string legend;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (!occurs[phase]) continue;
      legend += Styled(kPhaseLooks[phase].glyph, kPhaseLooks[phase].color) + " " +
                std::string(PhaseName(static_cast<Phase>(phase))) + "  ";
    }
    while (legend.ends_with(' ')) legend.pop_back();
    if (bar > 0 && !legend.empty()) Line("bars: " + legend);
    Line();
  }

  static std::string Similarity(double value) {
    if (!std::isfinite(value)) return "-";
    // Not rounded up to 1: that is for runs that are the same.
    return value < 1 ? fmt::format("{:.4f}", std::min(value, 0.9999)) : "1";
  }

  template <typename Text>
  void Matrix(std::string_view title, const PairMatrix& values, int cell, Text&& text) {
    const size_t runs = comparison_.similarity.runs.size();
    Line(Bold(title));
    std::string head = Blanks(3);
    for (size_t column = 0; column < runs; ++column) head += RightAligned(LetterOf(column), cell);
    Line(Dim(head));
    for (size_t row = 0; row < runs; ++row) {
      std::string line = Padded(LetterOf(row), 3);
      for (size_t column = 0; column < runs; ++column) {
        line += RightAligned(text(values[row * runs + column]), cell);
      }
      Line(line);
    }
    Line();
  }

  void Matrices() {
    const SimilarityMatrices& found = comparison_.similarity;
    const size_t runs = found.runs.size();
    if (runs < 2) return;
    Paragraph("Names are " + found.level +
              ". A similarity is Pearson's correlation over the names "
              "that both runs have; a difference is their mean, " +
              (runs == 2 ? "B minus A." : "row minus column."));
    Line();
    if (runs == 2) {
      Line(fmt::format(
          "similarity of energy {}, of power {}; mean difference {} and {}",
          Similarity(found.energy_pearson[1]), Similarity(found.power_pearson[1]),
          std::isfinite(found.energy_difference[2]) ? Signed(Joules{found.energy_difference[2]})
                                                    : "-",
          std::isfinite(found.power_difference[2])
              ? (found.power_difference[2] > 0 ? "+" : "") + FormatWatts(found.power_difference[2])
              : "-"));
    } else {
      Matrix("similarity of energy", found.energy_pearson, 8, Similarity);
      Matrix("similarity of power", found.power_pearson, 8, Similarity);
      auto joules = [](double value) {
        return !std::isfinite(value) ? "-" : value == 0 ? "0" : FormatJoules(value);
      };
      auto watts = [](double value) {
        return !std::isfinite(value) ? "-" : value == 0 ? "0" : FormatWatts(value);
      };
      Matrix("mean difference of energy", found.energy_difference, 10, joules);
      Matrix("mean difference of power", found.power_difference, 10, watts);
    }
    Names();
    Line();
  }

  // What was left out of the comparison is said: pairs that do not have all names in common.
  void Names() {
    const SimilarityMatrices& found = comparison_.similarity;
    const size_t runs = found.runs.size();
    for (size_t row = 0; row < runs; ++row) {
      for (size_t column = row + 1; column < runs; ++column) {
        const uint64_t here = found.only_here[row * runs + column];
        const uint64_t there = found.only_here[column * runs + row];
        const uint64_t common = found.common[row * runs + column];
        if (here == 0 && there == 0 && common == found.names[row] && runs > 2) continue;
        std::string line = fmt::format("{} and {}: {} names in common", LetterOf(row),
                                       LetterOf(column), FormatCount(common));
        if (here > 0) line += fmt::format("; {} only in {}", FormatCount(here), LetterOf(row));
        if (there > 0) line += fmt::format("; {} only in {}", FormatCount(there), LetterOf(column));
        const uint64_t unknown = found.names[row] - here - common;
        if (unknown > 0) line += fmt::format("; {} of unknown energy", FormatCount(unknown));
        Paragraph(line, 0, kDimStyle);
      }
    }
  }

  void DifferenceLine(const DifferenceRow& row) {
    std::string change = "?";
    if (row.difference && !row.in_before) change = "new";
    if (row.difference && !row.in_after) change = "gone";
    if (row.difference && row.in_before && row.in_after) {
      const Joules before = row.before.value_or(Joules{});
      change = before > Joules{} ? fmt::format("{}{}", *row.difference > Joules{} ? "+" : "",
                                               FormatPercent(*row.difference / before))
                                 : "-";
    }
    auto side = [](bool present, const std::optional<Joules>& energy) {
      return present ? FormatJoules(energy) : std::string("-");
    };
    std::string front = RightAligned(row.difference ? Signed(*row.difference) : "?", 10) +
                        RightAligned(row.noise ? "±" + FormatJoules(*row.noise) : "?", 10) +
                        RightAligned(side(row.in_before, row.before), 10) +
                        RightAligned(side(row.in_after, row.after), 10) + RightAligned(change, 9) +
                        "  ";
    const std::string tail = row.is_noise ? "  (noise)" : "";
    std::string name = row.path.empty() ? "all else" : Printable(row.path);
    if (row.rest && !row.path.empty()) name += " (rest)";
    const int room = width_ - static_cast<int>(DisplayWidth(front) + DisplayWidth(tail));
    const std::string line =
        front + EllipsizePath(name, static_cast<size_t>(std::max(room, 16))) + tail;
    Line(row.is_noise ? Dim(line) : line);
  }

  void Differences() {
    const auto& rows = comparison_.differences;
    if (rows.empty()) return;
    Line(Bold(fmt::format("what differs from A to B: {}", comparison_.differences_level)));
    Line(Dim(RightAligned("B - A", 10) + RightAligned("noise", 10) + RightAligned("A", 10) +
             RightAligned("B", 10) + RightAligned("change", 9)));
    const auto top = static_cast<size_t>(std::max(0, options_.top.value_or(kDefaultTop)));
    for (size_t i = 0; i < std::min(top, rows.size()); ++i) DifferenceLine(rows[i]);
    if (top < rows.size()) Line(Dim(fmt::format("{:>10} more", FormatCount(rows.size() - top))));
    const bool unknown =
        std::any_of(rows.begin(), rows.end(), [](const DifferenceRow& row) { return !row.noise; });
    Paragraph(unknown
                  ? "noise: not known, as a run has fewer than two steps: any of this may be chance"
                  : "noise: what steps that vary as these do differ by chance, 95 times of 100",
              0, kDimStyle);
    Line();
  }

  void Gates() {
    for (const GateVerdict& gate : comparison_.gates) {
      for (const std::string& line : GateLines(comparison_, gate)) {
        Paragraph(line, 0, gate.passed ? "" : "\x1b[31m");
      }
    }
    if (!comparison_.gates.empty()) Line();
  }

  void Books() {
    for (size_t run = 0; run < comparison_.runs.size(); ++run) {
      const AccountReport& report = comparison_.runs[run];
      const std::string label =
          report.context.label.empty() ? "" : " [" + report.context.label + "]";
      Paragraph(fmt::format("{}{}: {}; {}", LetterOf(run), label, report.context.energy_source,
                            ClosureWords(report)));
      for (const std::string& note : report.notes) {
        Paragraph("note: " + note, 2, kWarningStyle);
      }
    }
    for (const std::string& note : comparison_.notes) Paragraph("note: " + note, 0, kWarningStyle);
  }

  const Comparison& comparison_;
  const ViewOptions& options_;
};

}  // namespace

std::string ClosureWords(const AccountReport& report) {
  double worst = 0;
  for (const ChannelAccount& account : report.channels) {
    worst = std::max(worst, account.ClosureError());
  }
  return std::isfinite(worst) ? fmt::format("books close to {:.0e}", worst)
                              : "books do not close: a reading is too large";
}

std::vector<std::string> GateLines(const Comparison& comparison, const GateVerdict& gate) {
  const std::string what =
      gate.gate.pattern.empty() ? "energy" : fmt::format("energy of {}", gate.gate.pattern);
  const std::string basis = comparison.per_step ? "a step" : "the run";
  const std::string limit = fmt::format("limit +{}", FormatPercent(gate.gate.limit));
  if (!gate.change) {
    return {fmt::format("FAILED {}: {}: {} ({})", gate.run, what, gate.reason, limit)};
  }
  std::string line =
      fmt::format("{} {}: {} {}{} ({} -> {} {}), {}", gate.passed ? "passed" : "FAILED", gate.run,
                  what, *gate.change > 0 ? "+" : "", FormatPercent(*gate.change),
                  FormatJoules(gate.before.value_or(Joules{})),
                  FormatJoules(gate.after.value_or(Joules{})), basis, limit);
  line += gate.noise ? fmt::format(", noise ±{}", FormatPercent(*gate.noise)) : ", noise not known";
  if (!gate.certain) {
    line += gate.noise ? ": not certain, chance may have moved it across the limit"
                       : ": not certain, a run has fewer than two steps";
  }
  std::vector<std::string> lines = {std::move(line)};
  if (!gate.passed) {
    for (const DifferenceRow& row : gate.grew) {
      lines.push_back(fmt::format("  grew: {} by {}{}", row.path.empty() ? "all else" : row.path,
                                  FormatJoules(*row.difference), row.is_noise ? " (noise)" : ""));
    }
  }
  return lines;
}

std::string WriteCompareTable(const Comparison& comparison, const ViewOptions& options) {
  return CompareTable(comparison, options).Write();
}

std::string WriteGates(const Comparison& comparison, const ViewOptions& options) {
  return CompareTable(comparison, options).Verdicts();
}

}  // namespace beryl::views
