#include "sources/power_file.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "sources/power_json.h"
#include "sources/power_readings.h"

namespace beryl::sources {
namespace {

struct Columns {
  explicit Columns(const CsvFields& header)
      : time(FindCsvColumn(header, "timestamp_us")),
        device(FindCsvColumn(header, "device")),
        power(FindCsvColumn(header, "power_w")),
        energy(FindCsvColumn(header, "energy_uj")),
        wrap(FindCsvColumn(header, "wrap_uj")) {}
  bool IsComplete() const {
    return time != kNoCsvColumn && device != kNoCsvColumn && HasPower() != HasEnergy();
  }
  bool HasPower() const { return power != kNoCsvColumn; }
  bool HasEnergy() const { return energy != kNoCsvColumn; }

  size_t time;
  size_t device;
  size_t power;
  size_t energy;
  size_t wrap;
};

Result<std::vector<PowerChannel>> ReadCsv(ByteSource& source, const PowerFileOptions& options,
                                          ImportReport& report) {
  CsvReader lines(source, CsvComments::kHash);
  CsvFields fields;
  if (!lines.Next(fields)) {
    TRY(lines.status());
    return std::vector<PowerChannel>();
  }
  const Columns columns(fields);
  if (!columns.IsComplete()) {
    return InvalidError(fmt::format(
        "{}: the header at byte {} is '{}'; expected the columns timestamp_us, device and either "
        "power_w or energy_uj",
        source.name(), lines.offset(), Printable(lines.text().substr(0, 80))));
  }
  const size_t value = columns.HasPower() ? columns.power : columns.energy;
  PowerReadings readings(
      columns.HasEnergy() ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge, report);
  while (lines.Next(fields)) {
    if (!lines.well_formed()) {
      readings.Drop(NoteKind::kReadingQuoteNotClosed, lines.offset());
      continue;
    }
    auto wrap = options.wrap_uj ? options.wrap_uj : ParseNumber(CsvField(fields, columns.wrap));
    if (wrap && !(*wrap > 0)) wrap.reset();
    readings.Add(CsvField(fields, columns.device), CsvField(fields, columns.time),
                 CsvField(fields, value), wrap, lines.offset());
  }
  TRY(lines.status());
  return readings.Finish();
}

}  // namespace

Result<PowerTrace> ReadPowerFile(ByteSource& source, const PowerFileOptions& options) {
  PowerTrace trace;
  trace.report.file = source.name();
  auto first = TRY(source.Peek(4096));
  const size_t start = first.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const bool is_json = start != std::string_view::npos && first[start] == '{';
  trace.report.format = is_json ? "power-json" : "power-csv";
  if (is_json) {
    PowerReadings readings(ChannelKind::kPowerGauge, trace.report);
    TRY(ReadPowerJson(source, readings));
    trace.channels = readings.Finish();
  } else {
    trace.channels = TRY(ReadCsv(source, options, trace.report));
  }
  if (!source.damage().empty()) {
    trace.report.Count({NoteKind::kFileDamaged, "", {source.damage()}}, source.file_position());
  }
  if (trace.channels.empty()) {
    return InvalidError(
        fmt::format("{}: it has no power readings; expected CSV lines of "
                    "timestamp_us,device,power_w (or energy_uj), or JSON "
                    "{{\"CPU:0\": {{\"<timestamp_us>\": watts}}}}",
                    source.name()));
  }
  return trace;
}

}  // namespace beryl::sources
