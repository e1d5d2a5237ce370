// Runs side by side on a terminal: what each took, how alike they are, what differs, and whether
// the gates hold.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/figures.h"
#include "views/matrix_looks.h"
#include "views/text_page.h"

namespace beryl::views {
namespace {

constexpr int kDefaultTop = 15;
constexpr int kWidestBar = 20;
constexpr int kNarrowestBar = 8;  // a narrower one says nothing
constexpr int kLongestLabel = 28;
const std::vector<int> kDifferenceWidths = {10, 10, 10, 10, 9};

class CompareTable : public TextPage {
 public:
  CompareTable(const Comparison& comparison, const ViewOptions& options)
      : TextPage(options), comparison_(comparison) {}

  std::string Write() {
    Totals();
    Matrices();
    Differences();
    Gates();
    Books();
    Foot("", comparison_.provenance);
    return Take();
  }

  std::string Verdicts() {
    Gates();
    return Take();
  }

 private:
  static std::string Signed(double value, Formatter format) {
    return (value > 0 ? "+" : "") + OrDash(value, format);
  }

  void Totals() {
    const auto& totals = comparison_.totals;
    std::array<bool, kPhaseCount> occurs{};
    double largest = 0;
    bool deviates = false;
    for (const RunTotal& total : totals) {
      largest = std::max(largest, total.attributed.value_or(Joules{}).value);
      deviates = deviates || total.deviation;
      for (size_t phase = 0; phase < kPhaseCount; ++phase) {
        occurs[phase] = occurs[phase] || total.by_phase[phase] != Joules{};
      }
    }
    const auto label = [](const RunTotal& total) { return total.run; };
    const int label_width = std::min(Widest(totals, 4, label), kLongestLabel) + 2;
    Line(Bold(comparison_.per_step ? "energy of a step, mean over the steps of each run"
                                   : "energy of the whole run"));
    const auto phase_width = [&](size_t phase) { return occurs[phase] ? 10 : 0; };
    const std::vector<int> widths = {
        11, deviates ? 11 : 0, phase_width(0), phase_width(1), phase_width(2), 9, 9, 6};
    const std::string head = Cells(
        widths, {"operations", "± a step", PhaseName(Phase::kForward), PhaseName(Phase::kBackward),
                 PhaseName(Phase::kOptimizer), "idle", "unattr.", "steps"});
    const int room = width_ - 3 - label_width - static_cast<int>(DisplayWidth(head));
    const int bar = room >= kNarrowestBar ? std::min(room, kWidestBar) : 0;
    Line(Dim(Blanks(3) + Padded("run", label_width) + Blanks(bar) + head));
    for (size_t run = 0; run < totals.size(); ++run) {
      const RunTotal& total = totals[run];
      const auto joules = [&](size_t phase) {
        return total.by_phase[phase].value_or(Joules{}).value;
      };
      const std::string line = Padded(LetterOf(run), 3) + NameCell(total.run, label_width, 2) +
                               PhaseBar({joules(0), joules(1), joules(2)}, largest, bar);
      Line(line + Cells(widths, {FormatJoules(total.attributed),
                                 total.deviation ? "±" + FormatJoules(total.deviation) : "-",
                                 FormatJoules(total.by_phase[0]), FormatJoules(total.by_phase[1]),
                                 FormatJoules(total.by_phase[2]), FormatJoules(total.idle),
                                 FormatJoules(total.unattributed),
                                 total.steps > 0 ? FormatCount(total.steps) : "-"}));
    }
    const std::string legend = PhaseLegend(occurs);
    if (bar > 0 && !legend.empty()) Line(legend);
    Line();
  }

  void Matrix(std::string_view title, const PairMatrix& values, int cell, Formatter text) {
    Line(Bold(title));
    WriteMatrix(*this, values, comparison_.similarity.runs.size(), cell, text);
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
      Line(fmt::format("similarity of energy {}, of power {}; mean difference {} and {}",
                       SimilarityText(found.energy_pearson[1]),
                       SimilarityText(found.power_pearson[1]),
                       Signed(found.energy_difference[2], FormatJoules),
                       Signed(found.power_difference[2], FormatWatts)));
    } else {
      Matrix("similarity of energy", found.energy_pearson, 8, SimilarityText);
      Matrix("similarity of power", found.power_pearson, 8, SimilarityText);
      auto joules = [](double value) { return value == 0 ? "0" : OrDash(value, FormatJoules); };
      auto watts = [](double value) { return value == 0 ? "0" : OrDash(value, FormatWatts); };
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
        SmallPrint(line);
      }
    }
  }

  void DifferenceLine(const DifferenceRow& row) {
    std::string change = "?";
    if (row.difference && !row.in_before) change = "new";
    if (row.difference && !row.in_after) change = "gone";
    if (row.difference && row.in_before && row.in_after) {
      const Joules before = row.before.value_or(Joules{});
      change = before > Joules{} ? Signed(*row.difference / before, FormatPercent) : "-";
    }
    auto side = [](bool present, const std::optional<Joules>& energy) {
      return present ? FormatJoules(energy) : std::string("-");
    };
    const std::string front =
        Cells(kDifferenceWidths,
              {row.difference ? Signed(row.difference->value, FormatJoules) : "?",
               row.noise ? "±" + FormatJoules(row.noise) : "?", side(row.in_before, row.before),
               side(row.in_after, row.after), change}) +
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
    Line(Dim(Cells(kDifferenceWidths, {"B - A", "noise", "A", "B", "change"})));
    const size_t count = CountShown(rows.size(), options_.top.value_or(kDefaultTop));
    for (size_t i = 0; i < count; ++i) DifferenceLine(rows[i]);
    if (count < rows.size()) {
      Line(Dim(fmt::format("{:>10} more", FormatCount(rows.size() - count))));
    }
    const bool unknown =
        std::any_of(rows.begin(), rows.end(), [](const DifferenceRow& row) { return !row.noise; });
    SmallPrint(
        unknown ? "noise: not known, as a run has fewer than two steps: any of this may be chance"
                : "noise: what steps that vary as these do differ by chance, 95 times of 100");
    Line();
  }

  void Gates() {
    for (const GateVerdict& gate : comparison_.gates) {
      for (const std::string& line : GateLines(comparison_, gate)) {
        Paragraph(line, 0, gate.passed ? "" : kFailureStyle);
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
      Notes(report.notes, 2);
    }
    Notes(comparison_.notes);
  }

  const Comparison& comparison_;
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
