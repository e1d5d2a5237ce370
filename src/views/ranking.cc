// Footprints of operations as a table, JSON and CSV.
#include "views/ranking.h"

#include <algorithm>

#include <fmt/format.h>

#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

std::string Schema(const OperationRanking& ranking) {
  return fmt::format("beryl.{}/1", RankingName(ranking.kind));
}

void WriteMeasures(JsonWriter& json, const OperationRow& row) {
  json.Member("energy_j", row.energy);
  json.Member("seconds", row.time);
  json.Member("power_w", row.power);
  json.Member("count", row.count);
  if (row.static_part) json.Member("static_j", row.static_part);
  json.Member("mean_step_j", row.mean_step_energy);
  json.Member("deviation_step_j", row.deviation_step_energy);
  json.Member("deviation_step_w", row.deviation_step_power);
}

bool IsSameName(const OperationRow& a, const OperationRow& b) {
  return a.name == b.name && a.phase == b.phase;
}

std::string WriteRankingJson(const AccountReport& report, const OperationRanking& ranking,
                             size_t count) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", Schema(ranking));
  WriteContext(json, report);
  WriteClosure(json, report);
  json.Key("phase").Value(ranking.phase ? std::optional(PhaseName(*ranking.phase)) : std::nullopt);
  json.Member("total_j", ranking.total);
  json.Member("min_share", ranking.min_share);
  json.Key("rows").BeginArray();
  size_t device = 0;
  for (size_t i = 0; i < count; ++i) {
    const OperationRow& row = ranking.rows[i];
    json.BeginObject();
    json.Member("name", row.name);
    json.Member("phase", PhaseName(row.phase));
    json.Member("type", row.type);
    json.Member("device", row.device);
    WriteMeasures(json, row);
    json.Member("share", ShareOf(row, ranking));
    json.Member("layers", row.layers);
    if (!row.shapes.empty()) {
      json.Key("shapes").BeginArray();
      for (const std::string& shapes : row.shapes) json.Value(shapes);
      json.End();
    }
    json.Key("devices").BeginArray();
    for (; device < ranking.by_device.size() && IsSameName(ranking.by_device[device], row);
         ++device) {
      json.BeginObject();
      json.Member("device", ranking.by_device[device].device);
      WriteMeasures(json, ranking.by_device[device]);
      json.End();
    }
    json.End();
    json.End();
  }
  json.End();
  json.Member("rows_total", ranking.rows.size());
  json.End();
  return json.Take() + "\n";
}

std::string WriteRankingCsv(const OperationRanking& ranking, size_t count) {
  std::string text =
      "name,device,phase,type,energy_j,share,seconds,power_w,count,layers,mean_step_j,"
      "deviation_step_j,deviation_step_w,source,schema\n";
  size_t names = 0;
  for (size_t i = 0; i < ranking.by_device.size(); ++i) {
    const OperationRow& row = ranking.by_device[i];
    if ((i == 0 || !IsSameName(ranking.by_device[i - 1], row)) && ++names > count) break;
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(row.name),
                    CsvText(row.device), PhaseName(row.phase), CsvText(row.type),
                    CsvFigure(row.energy), CsvNumber(ShareOf(row, ranking)), row.time.value,
                    CsvFigure(row.power), row.count, row.layers, CsvFigure(row.mean_step_energy),
                    CsvFigure(row.deviation_step_energy), CsvFigure(row.deviation_step_power),
                    row.energy ? OriginName(row.origin) : "unknown", Schema(ranking));
  }
  return text;
}

class RankingTable : public TextPage {
 public:
  RankingTable(const OperationRanking& ranking, const ViewOptions& options)
      : TextPage(options), ranking_(ranking) {}

  std::string Write(size_t count) {
    const bool by_power = ranking_.kind == OperationRanking::Kind::kStpf;
    const bool narrow = width_ < kNarrow;
    const bool steps = !narrow && HasSteps(ranking_);
    Line(Bold(RankingTitle(ranking_)));
    Paragraph(ShownText(ranking_, count), 0, kDimStyle);
    Line();
    std::string head = fmt::format("{:>9}", by_power ? "power" : "energy");
    if (steps) head += fmt::format("{:>10}", "± a step");
    if (!narrow) head += fmt::format("{:>9}{:>9}", by_power ? "energy" : "power", "time");
    head += fmt::format("{:>8}{:>8}       operation", "share", "count");
    Line(Bold(head));
    for (size_t i = 0; i < count; ++i) Row(ranking_.rows[i], by_power, narrow, steps);
    if (count < ranking_.rows.size()) {
      Line(Dim(fmt::format("{:>9} more", FormatCount(ranking_.rows.size() - count))));
    }
    Line();
    return Take();
  }

 private:
  void Row(const OperationRow& row, bool by_power, bool narrow, bool steps) {
    const std::string energy = FormatJoules(row.energy);
    const std::string power = FormatWatts(row.power);
    std::string line = RightAligned(by_power ? power : energy, 9);
    if (steps) {
      const std::string text = by_power ? FormatWatts(row.deviation_step_power)
                                        : FormatJoules(row.deviation_step_energy);
      line += RightAligned(text == "?" ? text : "±" + text, 10);
    }
    if (!narrow) {
      line += RightAligned(by_power ? energy : power, 9) + RightAligned(FormatSeconds(row.time), 9);
    }
    const auto share = ShareOf(row, ranking_);
    line += RightAligned(share ? FormatPercent(*share) : "?", 8) +
            RightAligned(FormatCount(row.count), 8);
    const PhaseLook& look = kPhaseLooks[static_cast<size_t>(row.phase)];
    const int front = static_cast<int>(DisplayWidth(line)) + 7;
    const auto room = static_cast<size_t>(std::max(12, width_ - front));
    Line(line + "  " + Styled(Padded(look.short_name, 5), look.color) +
         EllipsizePath(Printable(row.name), room));
  }

  const OperationRanking& ranking_;
};

}  // namespace

std::string_view RankingName(OperationRanking::Kind kind) {
  switch (kind) {
    case OperationRanking::Kind::kStef:
      return "stef";
    case OperationRanking::Kind::kStpf:
      return "stpf";
    case OperationRanking::Kind::kTef:
      break;
  }
  return "tef";
}

std::string RankingTitle(const OperationRanking& ranking) {
  const char* what = ranking.kind == OperationRanking::Kind::kTef ? "Energy by operation (TEF)"
                     : ranking.kind == OperationRanking::Kind::kStef
                         ? "Energy by operation, like layers added up (STEF)"
                         : "Power by operation, like layers added up (STPF)";
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
  text += "; devices added up";
  if (ranking.min_share > 0) {
    text +=
        fmt::format("; names with less than {} of it left out", FormatPercent(ranking.min_share));
  }
  return text;
}

std::string Write(const AccountReport& report, const OperationRanking& ranking, Format format,
                  const ViewOptions& options) {
  constexpr int kScreenRows = 20;
  constexpr int kPictureRows = 10;
  const size_t all = ranking.rows.size();
  auto count = [&](std::optional<int> unless_given) {
    const auto top = options.top ? options.top : unless_given;
    return top ? std::min(all, static_cast<size_t>(std::max(0, *top))) : all;
  };
  switch (format) {
    case Format::kJson:
      return WriteRankingJson(report, ranking, count({}));
    case Format::kCsv:
      return WriteRankingCsv(ranking, count({}));
    case Format::kSvg:
      return DrawRanking(report, ranking, count(kPictureRows));
    default:
      return WriteHead(report, options) + RankingTable(ranking, options).Write(count(kScreenRows)) +
             WriteBooks(report, options);
  }
}

}  // namespace beryl::views
