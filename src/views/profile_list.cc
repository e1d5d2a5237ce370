// The profiles that ship with the program: as a table, JSON and CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "types/unknown.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.profiles/1";

std::string AliasText(const ProfileList::Row& row) {
  return fmt::format("{}", fmt::join(row.aliases, " "));
}

std::string BytesOf(double bytes) { return Amount(bytes, "B"); }
std::string AmountOf(double value) { return Amount(value); }

std::string Table(const ProfileList& profiles, const ViewOptions& options) {
  TextPage page(options);
  const int name = Widest(profiles.rows, 7, [](const auto& row) { return row.name; });
  const int alias = Widest(profiles.rows, 5, AliasText);
  const std::vector<int> widths = {-name - 2, -alias, 9, 10, 11, 9, -2, -40};
  page.Line(page.Dim(
      Cells(widths, {"profile", "short", "memory", "FLOP/s", "B/s", "at most", "", "machine"})));
  for (const ProfileList::Row& row : profiles.rows) {
    page.Line(Cells(widths, {row.name, AliasText(row), OrDash(row.memory, BytesOf),
                             OrDash(row.matmul_flops, AmountOf), OrDash(row.bandwidth, AmountOf),
                             OrDash(row.board_power, FormatWatts), "", Printable(row.machine)}));
  }
  page.Line();
  std::string_view from_datasheets = "these";
  for (const ProfileList::Row& row : profiles.rows) {
    if (!row.calibrated) continue;
    from_datasheets = "the others";
    page.Paragraph(
        fmt::format("{}: calibrated, learned from a meter with {}", row.name, row.measured_with));
  }
  page.SmallPrint(
      fmt::format("{} are from datasheets, never compared with a meter; FLOP/s of matrix products "
                  "in the fastest floating-point type",
                  from_datasheets));
  page.Foot("for any other machine, beryl train or a datasheet of your own", profiles.provenance);
  return page.Take();
}

std::string Json(const ProfileList& profiles) {
  JsonWriter json;
  BeginResult(json, kSchema, profiles.provenance);
  json.Objects("profiles", profiles.rows, [&](const ProfileList::Row& row) {
    json.Member("name", row.name).Member("aliases", row.aliases).Member("machine", row.machine);
    json.Member("calibrated", row.calibrated);
    json.Member("measured_with", row.calibrated ? std::optional(row.measured_with) : std::nullopt);
    WriteWhole(json, "memory_bytes", row.memory.value_or(kUnknown));
    WriteWhole(json, "matmul_flops", row.matmul_flops.value_or(kUnknown));
    WriteWhole(json, "bandwidth", row.bandwidth.value_or(kUnknown));
    json.Member("board_w", row.board_power);
  });
  return EndResult(json, profiles.provenance);
}

std::string Csv(const ProfileList& profiles) {
  CsvTable csv(kSchema, profiles.provenance,
               "name,aliases,machine,calibrated,measured_with,memory_bytes,matmul_flops,bandwidth,"
               "board_w");
  for (const ProfileList::Row& row : profiles.rows) {
    csv.Row(row.name, AliasText(row), row.machine, row.calibrated ? "yes" : "no", row.measured_with,
            WholeOrFigure(row.memory.value_or(kUnknown)),
            WholeOrFigure(row.matmul_flops.value_or(kUnknown)),
            WholeOrFigure(row.bandwidth.value_or(kUnknown)), row.board_power);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const ProfileList& profiles, Format format, const ViewOptions& options) {
  return WriteUsual(profiles, format, options, Json, Csv, Table);
}

}  // namespace beryl::views
