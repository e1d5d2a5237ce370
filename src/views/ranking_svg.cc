// The first operations of a footprint as bars: the name above each, whiskers for the deviation.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "views/ranking.h"
#include "views/svg_parts.h"

namespace beryl::views {
namespace {

constexpr double kRow = 42;
constexpr double kBar = 15;
constexpr double kLabelRoom = 130;  // right of the longest bar
constexpr double kText = 12;

class RankingPicture {
 public:
  RankingPicture(const AccountReport& report, const OperationRanking& ranking, size_t count)
      : report_(report),
        ranking_(ranking),
        count_(count),
        by_power_(ranking.kind == OperationRanking::Kind::kStpf),
        a_step_(!by_power_ && HasSteps(ranking)),
        canvas_(fmt::format("{} of {}", RankingTitle(ranking), RunName(report.context)),
                Description()) {}

  std::string Draw() {
    double y = DrawHeading(canvas_, kWidth,
                           fmt::format("{}: {}", RankingTitle(ranking_), RunName(report_.context)),
                           Subtitle(), report_.context.label);
    y = Legend(y + 4);
    const double top = y;
    const double bottom = top + kRow * static_cast<double>(count_) + 6;
    double largest = 0;
    for (size_t i = 0; i < count_; ++i) {
      largest = std::fmax(std::max(largest, Value(i)), Value(i) + Deviation(i));
    }
    const Scale x{0, largest > 0 ? largest : 1, kMargin, kWidth - kMargin - kLabelRoom};
    DrawBottomAxis(canvas_, x, {bottom, top},
                   by_power_ ? "power"
                   : a_step_ ? "energy a step"
                             : "energy",
                   by_power_ ? "W" : "J");
    for (size_t i = 0; i < count_; ++i) Row(i, x, top + kRow * static_cast<double>(i));
    if (count_ == 0) {
      canvas_.Text(kMargin, top + 4, "nothing to show: no operation with known energy",
                   {.color = kDim});
    }
    return FinishPicture(canvas_, kWidth, bottom + 60, SourceLines(report_), report_.provenance);
  }

 private:
  double Value(size_t i) const {
    const OperationRow& row = ranking_.rows[i];
    if (by_power_) return row.power.value_or(Watts{}).value;
    return (a_step_ ? row.mean_step_energy : row.energy).value_or(Joules{}).value;
  }
  // Watts or joules, as the bars are; NaN: not known.
  double Deviation(size_t i) const {
    const OperationRow& row = ranking_.rows[i];
    return by_power_ ? ValueOrNan(row.deviation_step_power) : ValueOrNan(row.deviation_step_energy);
  }
  std::string Format(double value) const {
    return by_power_ ? FormatWatts(value) : FormatJoules(value);
  }

  std::string Subtitle() const {
    std::string text = ShownText(ranking_, count_);
    if (a_step_) text += fmt::format("; bars are means over {} steps", report_.steps);
    if (HasSteps(ranking_)) text += "; whiskers are one standard deviation over steps";
    return text;
  }

  std::string Description() const {
    std::string text = Subtitle() + ".";
    for (size_t i = 0; i < std::min<size_t>(count_, 3); ++i) {
      text += fmt::format(" {}: {}.", ranking_.rows[i].name, Format(Value(i)));
    }
    return text;
  }

  double Legend(double y) {
    std::array<bool, kPhaseCount> occurs{};
    for (size_t i = 0; i < count_; ++i) {
      occurs[static_cast<size_t>(ranking_.rows[i].phase)] = true;
    }
    return DrawLegend(canvas_, kMargin, y, kWidth - kMargin, PhaseEntries(occurs)) + 6;
  }

  std::string Tooltip(size_t i) const {
    const OperationRow& row = ranking_.rows[i];
    std::string text = fmt::format("{}\n{}, {}", row.name, PhaseName(row.phase), row.device);
    if (row.energy) text += fmt::format("\n{} in all", FormatJoules(*row.energy));
    if (row.power) {
      text += fmt::format(" at {} for {}", FormatWatts(*row.power), FormatSeconds(row.time));
    }
    text += fmt::format("\n{} runs", FormatCount(row.count));
    if (row.layers > 1) text += fmt::format(" in {} layers", row.layers);
    return text;
  }

  void Row(size_t i, const Scale& x, double top) {
    const OperationRow& row = ranking_.rows[i];
    canvas_.BeginGroup(Tooltip(i));
    canvas_.Text(kMargin, top + 13, EllipsizePathToWidth(row.name, kInner, kText), {.size = kText});
    const double y = top + 18;
    const double end = x(Value(i));
    canvas_.Rectangle(x.from, y, std::max(1.0, end - x.from), kBar,
                      {.fill = PhaseColor(row.phase), .radius = 2});
    double label = end;
    if (const double deviation = Deviation(i); deviation > 0) {
      const double high = x(Value(i) + deviation);
      DrawWhisker(canvas_, x(std::max(0.0, Value(i) - deviation)), high, y + kBar / 2);
      label = std::max(label, high);
    }
    const auto share = ShareOf(row, ranking_);
    canvas_.Text(label + 8, y + 12,
                 fmt::format("{}  {}", row.energy ? Format(Value(i)) : "?",
                             share ? FormatPercent(*share) : ""),
                 {.size = 11.5, .color = kDim});
    canvas_.EndGroup();
  }

  const AccountReport& report_;
  const OperationRanking& ranking_;
  size_t count_;
  bool by_power_;
  bool a_step_;
  SvgCanvas canvas_;
};

}  // namespace

std::string DrawRanking(const AccountReport& report, const OperationRanking& ranking,
                        size_t count) {
  return RankingPicture(report, ranking, count).Draw();
}

}  // namespace beryl::views
