// Pictures of a comparison: matrices, totals as stacked bars, and differences.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/draw/heat_map.h"
#include "views/draw/svg_parts.h"
#include "views/text/figures.h"
#include "views/text/notes.h"

namespace beryl::views {
namespace {

constexpr int kDefaultTop = 20;

std::vector<std::string> LabelsOf(const Comparison& comparison) {
  std::vector<std::string> labels;
  for (const RunTotal& total : comparison.totals) labels.push_back(total.run);
  return labels;
}

std::string Finish(SvgCanvas& canvas, const Comparison& comparison, double y) {
  std::vector<std::string> lines = SourcesOf(comparison.runs, LabelsOf(comparison));
  for (const TotalVerdict& verdict : comparison.verdicts) lines.push_back(VerdictLine(verdict));
  for (const Note& note : comparison.notes) lines.push_back(NoteLine(note));
  return FinishPicture(canvas, kWidth, y, lines, comparison.provenance);
}

std::string DrawMatrices(const Comparison& comparison) {
  const SimilarityMatrices& found = comparison.similarity;
  const size_t runs = found.runs.size();
  SvgCanvas canvas("Similarity of runs",
                   fmt::format("Similarity and difference of energy and power between {} runs: {}.",
                               runs, found.level));
  double y = DrawHeading(
      canvas, kWidth, fmt::format("Similarity of {} runs", runs),
      fmt::format("over the names that both have: {}; {}", found.level, BasisWords(comparison)),
      WarningLabel(comparison.runs));
  constexpr double kGap = 36;
  const double half = (kInner - kGap) / 2;
  auto draw = [&](double x, double top, std::string title, const PairMatrix& values,
                  std::string unit) {
    return DrawHeatMap(canvas, {x, top}, half,
                       {std::move(title), &values, runs, std::move(unit), found.runs});
  };
  y += 6;
  const double right = kMargin + half + kGap;
  const double middle =
      std::max(draw(kMargin, y, "similarity of energy (Pearson)", found.energy_pearson, ""),
               draw(right, y, "similarity of power (Pearson)", found.power_pearson, ""));
  y = middle + 18;
  y = std::max(
      draw(kMargin, y, "mean difference of energy, row − column", found.energy_difference, "J"),
      draw(right, y, "mean difference of power, row − column", found.power_difference, "W"));
  return Finish(canvas, comparison, y + 24);
}

std::string DrawTotals(const Comparison& comparison) {
  constexpr double kRow = 52;
  constexpr double kBar = 18;
  constexpr double kNumberRoom = 130;
  SvgCanvas canvas("Energy of runs", fmt::format("Stacked bars of {} runs, by phase; {}.",
                                                 comparison.totals.size(), BasisWords(comparison)));
  double y =
      DrawHeading(canvas, kWidth, "Energy of runs",
                  BasisWords(comparison) + "; whiskers are one standard deviation over steps",
                  WarningLabel(comparison.runs));
  std::array<bool, kPhaseCount> occurs{};
  double largest = 0;
  for (const RunTotal& total : comparison.totals) {
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      occurs[phase] = occurs[phase] || total.by_phase[phase] != Joules{};
    }
    const Joules whisker = total.attributed.value_or(Joules{}) + total.deviation.value_or(Joules{});
    largest = std::max({largest, whisker.value, (total.idle + total.unattributed).value});
  }
  std::vector<LegendEntry> legend = PhaseEntries(occurs);
  legend.push_back({kOther, "idle between operations, and unattributed"});
  y = DrawLegend(canvas, kMargin, y + 4, kWidth - kMargin, legend) + 8;
  const double top = y;
  const double bottom = top + kRow * static_cast<double>(comparison.totals.size()) + 4;
  const Scale x{0, largest > 0 ? largest : 1, kMargin, kWidth - kMargin - kNumberRoom};
  DrawBottomAxis(canvas, x, {bottom, top}, comparison.per_step ? "energy per step" : "energy", "J");
  for (size_t run = 0; run < comparison.totals.size(); ++run) {
    const RunTotal& total = comparison.totals[run];
    const double at = top + kRow * static_cast<double>(run);
    canvas.BeginGroup(fmt::format("{}\n{} in operations, {} idle, {} unattributed; {} steps",
                                  total.run, FormatJoules(total.attributed),
                                  FormatJoules(total.idle), FormatJoules(total.unattributed),
                                  total.steps));
    canvas.Text(kMargin, at + 12, fmt::format("{}  {}", LetterOf(run), Printable(total.run)),
                {.room = kInner});
    double done = 0;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      const double energy = total.by_phase[phase].value_or(Joules{}).value;
      if (!(energy > 0)) continue;
      canvas.Rectangle(x(done), at + 18, x(done + energy) - x(done), kBar,
                       {.fill = PhaseColor(static_cast<Phase>(phase)),
                        .tooltip = fmt::format("{}: {}", PhaseName(static_cast<Phase>(phase)),
                                               FormatJoules(energy))});
      done += energy;
    }
    canvas.Rectangle(x(0), at + 18 + kBar + 1,
                     std::max(0.0, x((total.idle + total.unattributed).value) - x(0)), 4,
                     {.fill = kOther});
    double label = x(std::max(done, 0.0));
    if (total.deviation && total.attributed) {
      const double high = x((*total.attributed + *total.deviation).value);
      DrawWhisker(canvas, x(std::max(0.0, (*total.attributed - *total.deviation).value)), high,
                  at + 18 + kBar / 2);
      label = std::max(label, high);
    }
    canvas.Text(label + 8, at + 18 + 13,
                total.attributed ? FormatJoules(*total.attributed) : "energy unknown",
                {.size = 11.5, .color = kDim});
    canvas.EndGroup();
  }
  return Finish(canvas, comparison, bottom + 60);
}

std::string DrawDifferences(const Comparison& comparison, const ViewOptions& options) {
  constexpr double kRow = 40;
  constexpr double kBar = 14;
  constexpr double kNumberRoom = 90;
  const auto& rows = comparison.differences;
  const size_t count = CountShown(rows.size(), options.top.value_or(kDefaultTop));
  const auto& sides = comparison.sides;
  const std::string title = sides.size() == 2
                                ? fmt::format("From {} to {}", sides[0].label, sides[1].label)
                                : "What differs";
  SvgCanvas canvas(title, fmt::format("The {} largest differences of energy.", count));
  double y = DrawHeading(
      canvas, kWidth, title,
      sides.size() == 2
          ? fmt::format(
                "{}; {} of {} rows: {}. Whiskers: what chance explains; pale: may be chance",
                BasisWords(comparison), count, rows.size(), comparison.differences_level)
          : "differences need exactly two sides",
      WarningLabel(comparison.runs));
  double low = 0;
  double high = 0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = rows[i].difference.value_or(Joules{}).value;
    // A whisker longer than its bar is cut, so that the other bars need not shrink.
    const double noise = std::min(rows[i].noise.value_or(Joules{}).value, std::fabs(difference));
    low = std::min(low, difference - noise);
    high = std::max(high, difference + noise);
  }
  if (!(high > low)) high = 1;
  const double top = y + 8;
  const double bottom = top + kRow * static_cast<double>(count) + 4;
  const Scale x{low, high, kMargin + kNumberRoom, kWidth - kMargin - kNumberRoom};
  DrawBottomAxis(canvas, x, {bottom, top}, "difference of energy", "J");
  canvas.Line({x(0), top}, {x(0), bottom}, {.stroke = kDim});
  for (size_t i = 0; i < count; ++i) {
    const DifferenceRow& row = rows[i];
    const double at = top + kRow * static_cast<double>(i);
    std::string name = row.path.empty() ? "all else" : Printable(row.path);
    if (row.rest && !row.path.empty()) name += " (rest)";
    if (!row.in_before) name += "  — new";
    if (!row.in_after) name += "  — gone";
    const double difference = row.difference.value_or(Joules{}).value;
    canvas.BeginGroup(fmt::format(
        "{}\nbefore {}, after {}{}", name, JoulesOrDash(row.before), JoulesOrDash(row.after),
        row.noise ? fmt::format(", chance explains ±{}", FormatJoules(*row.noise)) : ""));
    canvas.Text(kMargin, at + 12, EllipsizePathToWidth(name, kInner, 12), {.size = 12});
    const Color color = DifferenceColor(difference > 0 ? 0.8 : -0.8);
    canvas.Rectangle(
        std::min(x(0), x(difference)), at + 17, std::fabs(x(difference) - x(0)), kBar,
        {.fill = color, .opacity = row.p_value && !row.found ? 0.35 : 1.0, .radius = 2});
    double outer = x(difference);
    if (row.noise > Joules{}) {
      const double left = std::clamp(x(difference - row.noise->value), x.from - 8, x.to + 8);
      const double right = std::clamp(x(difference + row.noise->value), x.from - 8, x.to + 8);
      DrawWhisker(canvas, left, right, at + 17 + kBar / 2);
      outer = difference > 0 ? std::max(outer, right) : std::min(outer, left);
    }
    canvas.Text(
        outer + (difference > 0 ? 8 : -8), at + 28,
        row.difference ? fmt::format("{}{}", difference > 0 ? "+" : "", FormatJoules(difference))
                       : "?",
        {.size = 11.5, .color = kDim, .anchor = difference > 0 ? Anchor::kStart : Anchor::kEnd});
    canvas.EndGroup();
  }
  return Finish(canvas, comparison, bottom + 60);
}

}  // namespace

std::string WarningLabel(const std::vector<AccountReport>& runs) {
  for (const AccountReport& report : runs) {
    if (!report.context.label.empty()) return report.context.label;
  }
  return "";
}

std::vector<std::string> SourcesOf(const std::vector<AccountReport>& reports,
                                   const std::vector<std::string>& labels) {
  std::vector<std::string> lines;
  for (size_t run = 0; run < reports.size(); ++run) {
    const RunContext& context = reports[run].context;
    lines.push_back(fmt::format("{}  {}{}: {}; {}", LetterOf(run), labels[run],
                                context.label.empty() ? "" : " [" + context.label + "]",
                                context.energy_source, ClosureWords(reports[run])));
  }
  if (!reports.empty()) lines.push_back(ToolText(reports.front().provenance));
  return lines;
}

std::string WriteComparePicture(const Comparison& comparison, ComparePart part,
                                const ViewOptions& options) {
  if (part == ComparePart::kTotals) return DrawTotals(comparison);
  if (part == ComparePart::kDifferences) return DrawDifferences(comparison, options);
  return DrawMatrices(comparison);
}

}  // namespace beryl::views
