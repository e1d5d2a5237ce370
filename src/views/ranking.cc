// Rankings of operations as a table, JSON, CSV, and the top rows as bars.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text.h"
#include "types/analysis.h"
#include "views/draw/svg_parts.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr double kRow = 42;
constexpr double kBar = 15;
constexpr double kLabelRoom = 130;  // right of the longest bar
constexpr double kText = 12;

std::string_view RankingName(OperationRanking::Kind kind) {
  using Kind = OperationRanking::Kind;
  return kind == Kind::kStef ? "stef" : kind == Kind::kStpf ? "stpf" : "tef";
}

std::string RankingTitle(const OperationRanking& ranking) {
  const char* what = ranking.kind == OperationRanking::Kind::kTef ? "Energy by operation (TEF)"
                     : ranking.kind == OperationRanking::Kind::kStef
                         ? "Energy by operation, repeated layers folded (STEF)"
                         : "Power by operation, repeated layers folded (STPF)";
  return ranking.phase ? fmt::format("{}, {} pass", what, PhaseName(*ranking.phase)) : what;
}

std::optional<double> ShareOf(const OperationRow& row, const OperationRanking& ranking) {
  if (!row.energy || !(ranking.total > Joules{})) return std::nullopt;
  return *row.energy / *ranking.total;
}

bool HasSteps(const OperationRanking& ranking) {
  return std::any_of(ranking.rows.begin(), ranking.rows.end(),
                     [](const OperationRow& row) { return row.mean_step_energy.has_value(); });
}

std::string ShownText(const OperationRanking& ranking, size_t count) {
  Joules shown;
  for (size_t i = 0; i < count; ++i) shown += ranking.rows[i].energy.value_or(Joules{});
  std::string text =
      fmt::format("{} of {} names", FormatCount(count), FormatCount(ranking.rows.size()));
  if (ranking.total > Joules{}) {
    text += fmt::format(" with {} of {} ({})", FormatJoules(shown), FormatJoules(*ranking.total),
                        FormatPercent(shown / *ranking.total));
  }
  text += "; devices summed";
  if (ranking.min_share > 0) {
    text += fmt::format("; names with less than {} of it are left out",
                        FormatPercent(ranking.min_share));
  }
  return text;
}

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
                   : a_step_ ? "energy per step"
                             : "energy",
                   by_power_ ? "W" : "J");
    for (size_t i = 0; i < count_; ++i) Row(i, x, top + kRow * static_cast<double>(i));
    if (count_ == 0) {
      canvas_.Text(kMargin, top + 4, "nothing to show: no operation has known energy",
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
  // Watts or joules, like the bars; NaN: unknown.
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

std::string Schema(const OperationRanking& ranking) {
  return fmt::format("beryl.{}/1", RankingName(ranking.kind));
}

bool IsSameName(const OperationRow& a, const OperationRow& b) {
  return a.name == b.name && a.phase == b.phase;
}

std::string WriteRankingJson(const AccountReport& report, const OperationRanking& ranking,
                             size_t count) {
  JsonWriter json;
  BeginRunResult(json, Schema(ranking), report);
  json.Key("phase").Value(ranking.phase ? std::optional(PhaseName(*ranking.phase)) : std::nullopt);
  json.Member("total_j", ranking.total).Member("min_share", ranking.min_share);
  auto device = ranking.by_device.begin();
  json.Objects("rows", std::span(ranking.rows).first(count), [&](const OperationRow& row) {
    json.Member("name", row.name).Member("phase", PhaseName(row.phase)).Member("type", row.type);
    json.Member("device", row.device);
    WriteMeasures(json, row);
    json.Member("deviation_step_w", row.deviation_step_power);
    json.Member("share", ShareOf(row, ranking)).Member("layers", row.layers);
    if (!row.shapes.empty()) json.Member("shapes", row.shapes);
    const auto first = device;
    while (device != ranking.by_device.end() && IsSameName(*device, row)) ++device;
    json.Objects("devices", std::span(first, device), [&](const OperationRow& part) {
      json.Member("device", part.device);
      WriteMeasures(json, part);
      json.Member("deviation_step_w", part.deviation_step_power);
    });
  });
  json.Member("rows_total", ranking.rows.size());
  return EndResult(json);
}

std::string WriteRankingCsv(const AccountReport& report, const OperationRanking& ranking,
                            size_t count) {
  CsvTable csv(Schema(ranking), report.provenance,
               "name,device,phase,type,energy_j,share,seconds,power_w,count,layers,mean_step_j,"
               "deviation_step_j,deviation_step_w,source");
  size_t names = 0;
  for (size_t i = 0; i < ranking.by_device.size(); ++i) {
    const OperationRow& row = ranking.by_device[i];
    if ((i == 0 || !IsSameName(ranking.by_device[i - 1], row)) && ++names > count) break;
    csv.Row(row.name, row.device, PhaseName(row.phase), row.type, row.energy, ShareOf(row, ranking),
            row.time, row.power, row.count, row.layers, row.mean_step_energy,
            row.deviation_step_energy, row.deviation_step_power,
            row.energy ? OriginName(row.origin) : "unknown");
  }
  return csv.Take();
}

std::string Table(const OperationRanking& ranking, size_t count, const ViewOptions& options) {
  TextPage page(options);
  const int width = std::max(options.width, kNarrowest);
  const bool by_power = ranking.kind == OperationRanking::Kind::kStpf;
  const bool narrow = width < kNarrow;
  const bool steps = !narrow && HasSteps(ranking);
  const std::vector<int> widths = {9, steps ? 12 : 0, narrow ? 0 : 9, narrow ? 0 : 9, 8, 8};
  page.Line(page.Bold(RankingTitle(ranking)));
  page.SmallPrint(ShownText(ranking, count));
  page.Line();
  page.Line(page.Bold(Cells(widths, {by_power ? "power" : "energy", "± per step",
                                     by_power ? "energy" : "power", "time", "share", "count"}) +
                      "       operation"));
  for (const OperationRow& row : std::span(ranking.rows).first(count)) {
    const std::string energy = FormatJoules(row.energy);
    const std::string power = FormatWatts(row.power);
    const std::string deviation =
        by_power ? FormatWatts(row.deviation_step_power) : FormatJoules(row.deviation_step_energy);
    const std::string line =
        Cells(widths, {by_power ? power : energy, (deviation == "?" ? "" : "±") + deviation,
                       by_power ? energy : power, FormatSeconds(row.time),
                       OrUnknown(ShareOf(row, ranking), FormatPercent), FormatCount(row.count)});
    const PhaseLook& look = kPhaseLooks[static_cast<size_t>(row.phase)];
    const int front = static_cast<int>(DisplayWidth(line)) + 7;
    page.Line(line + "  " + page.Styled(Padded(look.short_name, 5), look.color) +
              EllipsizePath(Printable(row.name), static_cast<size_t>(std::max(12, width - front))));
  }
  if (count < ranking.rows.size()) {
    page.Line(page.Dim(fmt::format("{:>9} more", FormatCount(ranking.rows.size() - count))));
  }
  page.Line();
  return page.Take();
}

}  // namespace

std::string Write(const AccountReport& report, const OperationRanking& ranking, Format format,
                  const ViewOptions& options) {
  constexpr int kScreenRows = 20;
  constexpr int kPictureRows = 10;
  const size_t all = ranking.rows.size();
  auto count = [&](std::optional<int> unless_given) {
    const auto top = options.top ? options.top : unless_given;
    return top ? CountShown(all, *top) : all;
  };
  if (format == Format::kJson) return WriteRankingJson(report, ranking, count({}));
  if (format == Format::kCsv) return WriteRankingCsv(report, ranking, count({}));
  if (format == Format::kSvg) return RankingPicture(report, ranking, count(kPictureRows)).Draw();
  return WriteHead(report, options) + Table(ranking, count(kScreenRows), options) +
         WriteBalances(report, options);
}

}  // namespace beryl::views
