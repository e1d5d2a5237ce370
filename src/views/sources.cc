// The meters of a machine: as a table, JSON and CSV.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.sources/1";

std::string_view KindText(const PowerChannel& channel) {
  return channel.kind == ChannelKind::kEnergyCounter ? "counter" : "gauge";
}

std::string_view VerdictText(SourceCheck::Verdict verdict) {
  using Verdict = SourceCheck::Verdict;
  return verdict == Verdict::kGood ? "good" : verdict == Verdict::kBad ? "bad" : "untold";
}

bool StandsStill(const PowerChannel& channel) {
  return channel.kind == ChannelKind::kEnergyCounter && channel.meter.moves.has_value() &&
         !*channel.meter.moves;
}

class SourcesTable : public PageOf<SourceReport> {
 public:
  using PageOf::PageOf;

  std::string Write() {
    Found();
    Section("duplicates, not read", result_.duplicates, [&](const auto& duplicate) {
      Paragraph(fmt::format("{}: {} {}; read by {}", duplicate.channel, duplicate.source,
                            duplicate.reads, duplicate.used),
                2);
    });
    Section("refused", result_.refused, [&](const RefusedSource& refused) {
      Paragraph(fmt::format("{}: {}", refused.source, refused.reason), 2);
      Paragraph("remedy: " + refused.remedy, 4, kDimStyle);
    });
    Section("checks", result_.checks, [&](const SourceCheck& check) {
      const char* style = check.verdict == SourceCheck::Verdict::kBad ? kWarningStyle : "";
      Paragraph(fmt::format("{:<7} {}: {}", VerdictText(check.verdict), check.what, check.detail),
                2, style);
    });
    const std::string features = fmt::format("{}", fmt::join(result_.features, ", "));
    SmallPrint("resource features: " + (features.empty() ? "none" : features));
    SmallPrint("CPU time by " + result_.cpu_time);
    Foot(result_.provenance.machine, result_.provenance);
    return Take();
  }

 private:
  static std::string StateOf(const PowerChannel& channel) {
    if (StandsStill(channel)) return "still";
    return channel.meter.origin == Origin::kEstimated ? "estimate" : "ok";
  }

  void Found() {
    Line(Bold("found"));
    if (result_.found.empty()) {
      Line("  no meter can be read");
      return Line();
    }
    const auto& found = result_.found;
    const int device = Widest(found, 6, [](const auto& channel) { return channel.name; });
    const int source = Widest(found, 6, [](const auto& channel) { return channel.meter.source; });
    const int within = Widest(result_.within, 6, [](const auto& other) { return other; });
    const std::vector<int> widths = {2, -device - 2, -source - 2, -9, -within, 10, 10, 10};
    Line(Dim(Cells(widths, {"", "device", "source", "kind", "within", "step", "power", "least"}) +
             "  state"));
    for (size_t i = 0; i < result_.found.size(); ++i) {
      const PowerChannel& channel = result_.found[i];
      const std::string state = StateOf(channel);
      Line(Cells(widths,
                 {"", Printable(channel.name), Printable(channel.meter.source), KindText(channel),
                  result_.within[i].empty() ? "-" : Printable(result_.within[i]),
                  OrDash(channel.meter.update_period_us.value_or(kUnknown) * 1e-6, FormatSeconds),
                  OrDash(result_.seen_w[i], FormatWatts), JoulesOrDash(result_.smallest_j[i])}) +
           "  " + (state == "ok" ? state : Styled(state, kWarningStyle)));
      Paragraph(channel.meter.reads, 6, kDimStyle);
    }
    Paragraph(
        "step: time between two updates, as seen. power: as seen. least: the least energy it can "
        "resolve. still: the counter did not move (see the checks). estimate: computed, not "
        "measured",
        2, kDimStyle);
    Line();
  }

  template <typename Items, typename Say>
  void Section(const char* title, const Items& items, Say&& say) {
    if (items.empty()) return;
    Line(Bold(title));
    for (const auto& item : items) say(item);
    Line();
  }
};

void WriteChannel(JsonWriter& json, const SourceReport& report, size_t index) {
  const PowerChannel& channel = report.found[index];
  const MeterTraits& meter = channel.meter;
  const std::string& within = report.within[index];
  json.BeginObject();
  json.Member("source", meter.source).Member("device", channel.name);
  json.Member("scope", ScopeName(channel.scope)).Member("kind", KindText(channel));
  json.Member("unit", meter.unit).Member("wrap", meter.wrap);
  json.Member("update_period_us", meter.update_period_us);
  json.Member("within", within.empty() ? std::nullopt : std::optional(within));
  json.Member("moves", meter.moves).Member("reads", meter.reads);
  json.Member("resolution", meter.per_count).Member("seen_w", report.seen_w[index]);
  json.Member("smallest_j", report.smallest_j[index]).Member("origin", OriginName(meter.origin));
  json.Member("error", meter.error);
  json.End();
}

std::string Json(const SourceReport& report) {
  JsonWriter json;
  BeginResult(json, kSchema, report.provenance);
  json.Key("found").BeginArray();
  for (size_t i = 0; i < report.found.size(); ++i) WriteChannel(json, report, i);
  json.End();
  json.Objects("duplicates", report.duplicates, [&](const DuplicateChannel& duplicate) {
    json.Member("source", duplicate.source).Member("device", duplicate.channel);
    json.Member("reads", duplicate.reads).Member("used", duplicate.used);
  });
  json.Objects("refused", report.refused, [&](const RefusedSource& refused) {
    json.Member("source", refused.source).Member("reason", refused.reason);
    json.Member("remedy", refused.remedy);
  });
  json.Objects("checks", report.checks, [&](const SourceCheck& check) {
    json.Member("what", check.what).Member("verdict", VerdictText(check.verdict));
    json.Member("detail", check.detail);
  });
  json.Member("cpu_time", report.cpu_time).Member("features", report.features);
  json.Member("machine", report.provenance.machine).Member("tool", ToolText(report.provenance));
  return EndResult(json);
}

std::string Csv(const SourceReport& report) {
  CsvTable csv(kSchema, report.provenance,
               "source,device,scope,kind,unit,wrap,update_period_us,within,moves,reads,resolution,"
               "seen_w,smallest_j,origin,error");
  for (size_t i = 0; i < report.found.size(); ++i) {
    const PowerChannel& channel = report.found[i];
    const MeterTraits& meter = channel.meter;
    csv.Row(meter.source, channel.name, ScopeName(channel.scope), KindText(channel), meter.unit,
            meter.wrap, meter.update_period_us, report.within[i], meter.moves, meter.reads,
            meter.per_count, report.seen_w[i], report.smallest_j[i], OriginName(meter.origin),
            meter.error);
  }
  return csv.Take();
}

}  // namespace

std::string Write(const SourceReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(report);
  if (format == Format::kCsv) return Csv(report);
  return SourcesTable(report, options).Write();
}

}  // namespace beryl::views
