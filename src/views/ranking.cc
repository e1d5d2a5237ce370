// Footprints of operations as a table, JSON and CSV.
#include "views/ranking.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "views/csv_table.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

std::string Schema(const OperationRanking& ranking) {
  return fmt::format("beryl.{}/1", RankingName(ranking.kind));
}

bool IsSameName(const OperationRow& a, const OperationRow& b) {
  return a.name == b.name && a.phase == b.phase;
}

std::string WriteRankingJson(const AccountReport& report, const OperationRanking& ranking,
                             size_t count) {
  JsonWriter json;
  BeginResult(json, Schema(ranking), report.provenance);
  WriteContext(json, report);
  WriteClosure(json, report);
  WriteNotes(json, NotesOf(report));
  json.Key("phase").Value(ranking.phase ? std::optional(PhaseName(*ranking.phase)) : std::nullopt);
  json.Member("total_j", ranking.total);
  json.Member("min_share", ranking.min_share);
  auto device = ranking.by_device.begin();
  json.Objects("rows", std::span(ranking.rows).first(count), [&](const OperationRow& row) {
    json.Member("name", row.name);
    json.Member("phase", PhaseName(row.phase));
    json.Member("type", row.type);
    json.Member("device", row.device);
    WriteMeasures(json, row);
    json.Member("deviation_step_w", row.deviation_step_power);
    json.Member("share", ShareOf(row, ranking));
    json.Member("layers", row.layers);
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
  const std::vector<int> widths = {9, steps ? 10 : 0, narrow ? 0 : 9, narrow ? 0 : 9, 8, 8};
  page.Line(page.Bold(RankingTitle(ranking)));
  page.SmallPrint(ShownText(ranking, count));
  page.Line();
  page.Line(page.Bold(Cells(widths, {by_power ? "power" : "energy", "± a step",
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

std::string_view RankingName(OperationRanking::Kind kind) {
  using Kind = OperationRanking::Kind;
  return kind == Kind::kStef ? "stef" : kind == Kind::kStpf ? "stpf" : "tef";
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
    return top ? CountShown(all, *top) : all;
  };
  if (format == Format::kJson) return WriteRankingJson(report, ranking, count({}));
  if (format == Format::kCsv) return WriteRankingCsv(report, ranking, count({}));
  if (format == Format::kSvg) return DrawRanking(report, ranking, count(kPictureRows));
  return WriteHead(report, options) + Table(ranking, count(kScreenRows), options) +
         WriteBooks(report, options);
}

}  // namespace beryl::views
