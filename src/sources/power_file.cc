#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/text.h"
#include "sources/sources.h"
#include "types/counter_wrap.h"

namespace beryl::sources {
namespace {

constexpr size_t kLargestJson = size_t{2} << 30;
constexpr double kJoulesPerMicrojoule = 1e-6;

struct Reading {
  Nanos time;
  double value;
  double wrap_uj;
  uint64_t offset;
};

// Readings as they come, by channel in order of appearance.
class Collector {
 public:
  explicit Collector(ImportReport& report) : report_(report) {}

  void Add(std::string_view device, std::string_view time, std::string_view value, double wrap_uj,
           uint64_t offset) {
    ++report_.events;
    const auto parsed_time = ParseMicros(Trim(time));
    const auto parsed_value = ParseNumber(value);
    if (device.empty()) return Drop(NoteKind::kReadingWithoutDevice, offset);
    if (!parsed_time) return Drop(NoteKind::kReadingTimeNotUsable, offset);
    if (!parsed_value) return Drop(NoteKind::kReadingNotNumber, offset);
    if (*parsed_value < 0) return Drop(NoteKind::kReadingNegative, offset);
    auto place = std::find_if(channels_.begin(), channels_.end(),
                              [&](const auto& channel) { return channel.first == device; });
    if (place == channels_.end()) {
      channels_.emplace_back(std::string(device), std::vector<Reading>());
      place = channels_.end() - 1;
    }
    place->second.push_back({*parsed_time, *parsed_value, wrap_uj, offset});
  }

  void DropRow(NoteKind why, uint64_t offset) {
    ++report_.events;
    Drop(why, offset);
  }

  void Drop(NoteKind why, uint64_t offset) { report_.Count(why, offset); }

  std::vector<PowerChannel> Finish(ChannelKind kind) {
    std::vector<PowerChannel> result;
    for (auto& [name, readings] : channels_) {
      PowerChannel channel;
      channel.name = name;
      channel.scope = ScopeOfName(name);
      channel.kind = kind;
      PutInOrder(readings);
      report_.operations += readings.size();
      if (kind == ChannelKind::kEnergyCounter) {
        Unwrap(readings, channel);
      } else {
        for (const Reading& reading : readings) channel.values.push_back(reading.value);
      }
      for (const Reading& reading : readings) channel.times.push_back(reading.time);
      result.push_back(std::move(channel));
    }
    return result;
  }

 private:
  void PutInOrder(std::vector<Reading>& readings) {
    auto earlier = [](const Reading& a, const Reading& b) { return a.time < b.time; };
    const auto early = std::is_sorted_until(readings.begin(), readings.end(), earlier);
    if (early != readings.end()) {
      report_.Count(NoteKind::kReadingsOutOfOrder, early->offset);
      std::stable_sort(readings.begin(), readings.end(), earlier);
    }
    // Of several readings with one time the last one stands.
    size_t kept = 0;
    for (size_t i = 0; i < readings.size(); ++i) {
      if (i + 1 < readings.size() && readings[i].time == readings[i + 1].time) {
        report_.Count(NoteKind::kReadingOfSameTime, readings[i].offset);
        continue;
      }
      readings[kept++] = readings[i];
    }
    readings.resize(kept);
  }

  // Power in the middle of the intervals that did not go down, to judge the others by.
  static std::optional<Watts> UsualPower(const std::vector<Reading>& readings) {
    std::vector<double> watts;
    for (size_t i = 1; i < readings.size(); ++i) {
      const double step = readings[i].value - readings[i - 1].value;
      const double seconds = (readings[i].time - readings[i - 1].time).seconds();
      if (step >= 0) watts.push_back(step * kJoulesPerMicrojoule / seconds);
    }
    if (watts.empty()) return std::nullopt;
    const auto middle = watts.begin() + static_cast<std::ptrdiff_t>(watts.size() / 2);
    std::nth_element(watts.begin(), middle, watts.end());
    return Watts{*middle};
  }

  // Energy that passed between two readings of which the later is lower; NaN where that cannot be
  // told.
  static double AcrossWrap(const Reading& before, const Reading& after,
                           const std::optional<Watts>& usual) {
    const auto range = WrapRange({before.value, after.value, Joules{kJoulesPerMicrojoule},
                                  ToSeconds(after.time - before.time), usual},
                                 after.wrap_uj);
    return range ? *range - before.value + after.value : std::nan("");
  }

  void Unwrap(const std::vector<Reading>& readings, PowerChannel& channel) {
    const std::optional<Watts> usual = UsualPower(readings);
    double energy_uj = 0;
    for (size_t i = 0; i < readings.size(); ++i) {
      if (i > 0) {
        double step = readings[i].value - readings[i - 1].value;
        if (step < 0) {
          step = AcrossWrap(readings[i - 1], readings[i], usual);
          if (std::isnan(step)) {
            channel.gaps.push_back({i, GapReason::kCounterWentDown});
            report_.Count(NoteKind::kCounterWentDown, readings[i].offset);
            step = 0;
          } else {
            ++channel.wraps;
          }
        }
        energy_uj += step;
      }
      channel.values.push_back(energy_uj * kJoulesPerMicrojoule);
    }
  }

  ImportReport& report_;
  std::vector<std::pair<std::string, std::vector<Reading>>> channels_;
};

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

Result<ChannelKind> ReadCsv(ByteSource& source, const PowerFileOptions& options,
                            Collector& collector) {
  CsvReader lines(source, CsvComments::kHash);
  CsvFields fields;
  if (!lines.Next(fields)) {
    if (!lines.status()) return lines.status().error();
    return ChannelKind::kPowerGauge;  // of nothing
  }
  const Columns columns(fields);
  if (!columns.IsComplete()) {
    return InvalidError(fmt::format(
        "{}: the header at byte {} is '{}'; expected the columns timestamp_us, device and either "
        "power_w or energy_uj",
        source.name(), lines.offset(), Printable(lines.text().substr(0, 80))));
  }
  const size_t value = columns.HasPower() ? columns.power : columns.energy;
  while (lines.Next(fields)) {
    if (!lines.well_formed()) {
      collector.DropRow(NoteKind::kReadingQuoteNotClosed, lines.offset());
      continue;
    }
    const double wrap =
        options.wrap_uj.value_or(ParseNumber(CsvField(fields, columns.wrap)).value_or(0));
    collector.Add(CsvField(fields, columns.device), CsvField(fields, columns.time),
                  CsvField(fields, value), wrap, lines.offset());
  }
  if (!lines.status()) return lines.status().error();
  return columns.HasEnergy() ? ChannelKind::kEnergyCounter : ChannelKind::kPowerGauge;
}

Result<ChannelKind> ReadJson(ByteSource& source, Collector& collector) {
  auto text = ReadAll(source, kLargestJson);
  if (!text) return text.error();
  if (text->starts_with("\xEF\xBB\xBF")) text->replace(0, 3, "   ");
  bool walked = true;
  auto ok = json::WalkObject(*text, source.name(), [&](json::Key device, json::Value readings) {
    const std::string name(device.Text());
    const auto offset = static_cast<uint64_t>(readings.Token().data() - text->data());
    if (!readings.IsObject()) {
      collector.Drop(NoteKind::kReadingsNotObject, offset);
      return;
    }
    walked = readings.ForEachMember([&](json::Key time, json::Value value) {
      const std::string_view token = value.Token();
      collector.Add(name, time.Text(), token, 0,
                    static_cast<uint64_t>(token.data() - text->data()));
    }) && walked;
  });
  if (!ok) return ok.error();
  if (!walked) {
    const auto error = json::FindSyntaxError(*text);
    return InvalidError(fmt::format("{}: not valid JSON at byte {}: {}", source.name(),
                                    error ? error->offset : 0,
                                    error ? json::Describe(*error, *text) : "unreadable"));
  }
  return ChannelKind::kPowerGauge;
}

}  // namespace

Result<PowerTrace> ReadPowerFile(ByteSource& source, const PowerFileOptions& options) {
  PowerTrace trace;
  trace.report.file = source.name();
  auto first = source.Peek(4096);
  if (!first) return first.error();
  const size_t start = first->find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const bool is_json = start != std::string_view::npos && (*first)[start] == '{';
  trace.report.format = is_json ? "power-json" : "power-csv";
  Collector collector(trace.report);
  auto kind = is_json ? ReadJson(source, collector) : ReadCsv(source, options, collector);
  if (!kind) return kind.error();
  if (!source.damage().empty()) {
    trace.report.Count({NoteKind::kFileDamaged, "", {source.damage()}}, source.file_position());
  }
  trace.channels = collector.Finish(*kind);
  if (trace.channels.empty()) {
    return InvalidError(
        fmt::format("{}: no power readings in it; expected CSV lines of "
                    "timestamp_us,device,power_w (or energy_uj), or JSON "
                    "{{\"CPU:0\": {{\"<timestamp_us>\": watts}}}}",
                    source.name()));
  }
  return trace;
}

}  // namespace beryl::sources
