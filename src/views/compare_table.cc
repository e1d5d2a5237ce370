// Runs side by side on a terminal: their energy, similarity and differences, and whether the gates
// hold.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/draw/heat_map.h"
#include "views/text/figures.h"
#include "views/text/text_page.h"

namespace beryl::views {
namespace {

constexpr int kDefaultTop = 15;
constexpr int kWidestBar = 20;
constexpr int kNarrowestBar = 8;  // a narrower bar is meaningless
constexpr int kLongestLabel = 28;
const std::vector<int> kDifferenceWidths = {10, 10, 10, 10, 10};

class CompareTable : public PageOf<Comparison> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Incomplete(result_.provenance);
    Verdict();
    Totals();
    Matrices();
    Differences();
    Gates();
    Balances();
    Foot("", result_.provenance);
    return Take();
  }

  std::string Verdicts() {
    Gates();
    return Take();
  }

 private:
  void Verdict() {
    for (const TotalVerdict& verdict : result_.verdicts) {
      Paragraph(VerdictLine(verdict), 0, kBoldStyle);
    }
    if (!result_.verdicts.empty()) {
      const TotalVerdict& first = result_.verdicts.front();
      if (!first.reason) SmallPrint(HowItIsKnown(result_, first));
      Line();
    }
  }

  bool HasGroups() const { return result_.sides.size() < result_.totals.size(); }

  // "A B C against D E F"
  std::string Groups() const {
    std::string text;
    for (const ComparedSide& side : result_.sides) {
      if (!text.empty()) text += " against";
      for (const size_t run : side.runs) text += (text.empty() ? "" : " ") + LetterOf(run);
    }
    return text;
  }

  static std::string Signed(double value, Formatter format) {
    return (value > 0 ? "+" : "") + OrDash(value, format);
  }

  void Totals() {
    const auto& totals = result_.totals;
    std::array<bool, kPhaseCount> occurs{};
    double largest = 0;
    bool deviates = false;
    for (const RunTotal& total : totals) {
      largest = std::max(largest, total.attributed.value_or(Joules{}).value);
      deviates = deviates || total.deviation;
      for (size_t phase = 0; phase < kPhaseCount; ++phase) {
        occurs[phase] = occurs[phase] || (result_.of == ComparedEnergy::kOperations &&
                                          total.by_phase[phase] != Joules{});
      }
    }
    const auto label = [](const RunTotal& total) { return total.run; };
    const int label_width = std::min(Widest(totals, 4, label), kLongestLabel) + 2;
    Line(Bold(BasisWords(result_) + (HasGroups() ? ": " + Groups() : "")));
    const bool operations = result_.of == ComparedEnergy::kOperations;
    const auto phase_width = [&](size_t phase) { return occurs[phase] ? 10 : 0; };
    const std::vector<int> widths = {
        11, deviates ? 12 : 0, phase_width(0), phase_width(1), phase_width(2), 9,
        9,  operations ? 6 : 0};
    const std::string head = Cells(
        widths, {operations ? "operations" : "energy", "± per step", PhaseName(Phase::kForward),
                 PhaseName(Phase::kBackward), PhaseName(Phase::kOptimizer), "idle",
                 operations ? "unattr." : "others", "steps"});
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
    WriteMatrix(*this, values, result_.similarity.runs.size(), cell, text);
    Line();
  }

  void Matrices() {
    const SimilarityMatrices& found = result_.similarity;
    const size_t runs = found.runs.size();
    // Recordings have a few processes and devices, or only one figure.
    if (runs < 2 || result_.of != ComparedEnergy::kOperations) return;
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

  // Lists what the comparison leaves out: pairs that do not share all names.
  void Names() {
    const SimilarityMatrices& found = result_.similarity;
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
      change = before > Joules{} ? SignedShare(*row.difference / before) : "-";
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
    const bool unsure = row.p_value && !row.found;
    const std::string tail = unsure ? "  (noise)" : "";
    std::string name = row.path.empty() ? "all else" : Printable(row.path);
    if (row.rest && !row.path.empty()) name += " (rest)";
    const int room = width_ - static_cast<int>(DisplayWidth(front) + DisplayWidth(tail));
    const std::string line =
        front + EllipsizePath(name, static_cast<size_t>(std::max(room, 16))) + tail;
    Line(unsure ? Dim(line) : line);
  }

  void Differences() {
    const auto& rows = result_.differences;
    if (rows.empty()) return;
    const bool groups = HasGroups();
    Line(Bold(fmt::format("what differs{}: {}", groups ? "" : " from A to B",
                          result_.differences_level)));
    Line(
        Dim(Cells(kDifferenceWidths, {groups ? "difference" : "B - A", "noise",
                                      groups ? "before" : "A", groups ? "after" : "B", "change"})));
    const size_t count = CountShown(rows.size(), options_.top.value_or(kDefaultTop));
    for (size_t i = 0; i < count; ++i) DifferenceLine(rows[i]);
    if (count < rows.size()) {
      Line(Dim(fmt::format("{:>10} more", FormatCount(rows.size() - count))));
    }
    const auto found =
        std::count_if(rows.begin(), rows.end(), [](const DifferenceRow& row) { return row.found; });
    SmallPrint(
        fmt::format("noise: what chance explains in 95 of 100 cases. {} of {} lines {} more "
                    "than noise{}",
                    found, rows.size(), found == 1 ? "is" : "are",
                    found == 0 ? ""
                               : fmt::format("; of such lines, at most {} are chance, on "
                                             "average",
                                             FormatPercent(result_.false_discovery))));
    Line();
  }

  void Gates() {
    for (const GateVerdict& gate : result_.gates) {
      for (const std::string& line : GateLines(result_, gate)) {
        Paragraph(line, 0, gate.passed ? "" : kFailureStyle);
      }
    }
    if (!result_.gates.empty()) Line();
  }

  // Notes that every run has are printed once.
  std::vector<Note> SharedNotes() const {
    if (result_.runs.size() < 2) return {};
    std::vector<Note> shared = result_.runs.front().notes;
    for (const AccountReport& report : result_.runs) {
      std::erase_if(shared, [&](const Note& note) { return !Has(report.notes, note); });
    }
    return shared;
  }

  static bool Has(const std::vector<Note>& notes, const Note& note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }

  void Balances() {
    const std::vector<Note> shared = SharedNotes();
    for (size_t run = 0; run < result_.runs.size(); ++run) {
      const AccountReport& report = result_.runs[run];
      const std::string label =
          report.context.label.empty() ? "" : " [" + report.context.label + "]";
      Paragraph(fmt::format("{}{}: {}; {}", LetterOf(run), label, report.context.energy_source,
                            ClosureWords(report)));
      std::vector<Note> own = report.notes;
      std::erase_if(own, [&](const Note& note) { return Has(shared, note); });
      Notes(own, 2);
    }
    if (!shared.empty()) Paragraph("all runs:");
    Notes(shared, 2);
    Notes(result_.notes);
  }
};

}  // namespace

std::string ClosureWords(const AccountReport& report) {
  double worst = 0;
  for (const ChannelAccount& account : report.channels) {
    worst = std::max(worst, account.ClosureError());
  }
  return std::isfinite(worst) ? fmt::format("closure error {:.0e}", worst)
                              : "does not close: a reading is too large";
}

std::string WriteCompareTable(const Comparison& comparison, const ViewOptions& options) {
  return CompareTable(comparison, options).Write();
}

std::string WriteGates(const Comparison& comparison, const ViewOptions& options) {
  return CompareTable(comparison, options).Verdicts();
}

}  // namespace beryl::views
