// The meters of a machine: as a table, JSON and CSV.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.sources/1";

std::string_view KindText(const PowerChannel& channel) {
  return channel.kind == ChannelKind::kEnergyCounter ? "counter" : "gauge";
}

std::string_view VerdictText(SourceCheck::Verdict verdict) {
  switch (verdict) {
    case SourceCheck::Verdict::kGood:
      return "good";
    case SourceCheck::Verdict::kBad:
      return "bad";
    case SourceCheck::Verdict::kUntold:
      break;
  }
  return "untold";
}

bool StandsStill(const PowerChannel& channel) {
  return channel.kind == ChannelKind::kEnergyCounter && channel.meter.moves.has_value() &&
         !*channel.meter.moves;
}

class SourcesTable : public TextPage {
 public:
  SourcesTable(const SourceReport& report, const ViewOptions& options)
      : TextPage(options), report_(report) {}

  std::string Write() {
    Found();
    Duplicates();
    Refused();
    Checks();
    std::string features;
    for (const std::string& feature : report_.features) {
      features += (features.empty() ? "" : ", ") + feature;
    }
    Paragraph("resource features: " + (features.empty() ? "none" : features), 0, kDimStyle);
    Paragraph("CPU time by " + report_.cpu_time, 0, kDimStyle);
    Paragraph(fmt::format("{}; {}", report_.machine, report_.tool), 0, kDimStyle);
    return Take();
  }

 private:
  static std::string OrDash(double value, std::string (*format)(double)) {
    return std::isfinite(value) ? format(value) : "-";
  }

  static std::string StateOf(const PowerChannel& channel) {
    if (StandsStill(channel)) return "still";
    return channel.meter.origin == Origin::kEstimated ? "guess" : "ok";
  }

  void Found() {
    Line(Bold("found"));
    if (report_.found.empty()) Line("  nothing that can be read");
    int device = 6;
    int source = 6;
    int within = 6;
    for (size_t i = 0; i < report_.found.size(); ++i) {
      device = std::max(device, Width(report_.found[i].name));
      source = std::max(source, Width(report_.found[i].meter.source));
      within = std::max(within, Width(report_.within[i]));
    }
    if (!report_.found.empty()) {
      Line(Dim("  " + Padded("device", device + 2) + Padded("source", source + 2) +
               Padded("kind", 9) + Padded("within", within) + RightAligned("step", 10) +
               RightAligned("power", 10) + RightAligned("least", 10) + "  state"));
    }
    for (size_t i = 0; i < report_.found.size(); ++i) {
      const PowerChannel& channel = report_.found[i];
      const std::string state = StateOf(channel);
      Line("  " + Padded(Printable(channel.name), device + 2) +
           Padded(Printable(channel.meter.source), source + 2) + Padded(KindText(channel), 9) +
           Padded(report_.within[i].empty() ? "-" : Printable(report_.within[i]), within) +
           RightAligned(OrDash(channel.meter.update_period_us * 1e-6, FormatSeconds), 10) +
           RightAligned(OrDash(report_.seen_w[i], FormatWatts), 10) +
           RightAligned(OrDash(report_.smallest_j[i], FormatJoules), 10) + "  " +
           (state == "ok" ? state : Styled(state, kWarningStyle)));
      Paragraph(channel.meter.reads, 6, kDimStyle);
    }
    if (!report_.found.empty()) {
      Paragraph(
          "step: time between two updates, as seen. power: as seen. least: the least energy it can "
          "tell. still: the counter did not move (see the checks). guess: worked out, not measured",
          2, kDimStyle);
    }
    Line();
  }

  void Duplicates() {
    if (report_.duplicates.empty()) return;
    Line(Bold("the same again, not read twice"));
    for (const DuplicateChannel& duplicate : report_.duplicates) {
      Paragraph(fmt::format("{}: {} {}; read by {}", duplicate.channel, duplicate.source,
                            duplicate.reads, duplicate.used),
                2);
    }
    Line();
  }

  void Refused() {
    if (report_.refused.empty()) return;
    Line(Bold("refused"));
    for (const RefusedSource& refused : report_.refused) {
      Paragraph(fmt::format("{}: {}", refused.source, refused.reason), 2);
      Paragraph("remedy: " + refused.remedy, 4, kDimStyle);
    }
    Line();
  }

  void Checks() {
    if (report_.checks.empty()) return;
    Line(Bold("checks"));
    for (const SourceCheck& check : report_.checks) {
      const char* style = check.verdict == SourceCheck::Verdict::kBad ? kWarningStyle : "";
      Paragraph(fmt::format("{:<7} {}: {}", VerdictText(check.verdict), check.what, check.detail),
                2, style);
    }
    Line();
  }

  static int Width(const std::string& text) {
    return static_cast<int>(DisplayWidth(Printable(text)));
  }

  const SourceReport& report_;
};

void WriteChannel(JsonWriter& json, const SourceReport& report, size_t index) {
  const PowerChannel& channel = report.found[index];
  const MeterTraits& meter = channel.meter;
  const std::string& within = report.within[index];
  json.BeginObject();
  json.Member("source", meter.source);
  json.Member("device", channel.name);
  json.Member("scope", ScopeName(channel.scope));
  json.Member("kind", KindText(channel));
  json.Member("unit", meter.unit);
  json.Member("wrap", meter.wrap);
  json.Member("update_period_us", meter.update_period_us);
  json.Member("within", within.empty() ? std::nullopt : std::optional(within));
  json.Member("moves", meter.moves);
  json.Member("reads", meter.reads);
  json.Member("resolution", meter.per_count);
  json.Member("seen_w", report.seen_w[index]);
  json.Member("smallest_j", report.smallest_j[index]);
  json.Member("origin", OriginName(meter.origin));
  json.Member("error", meter.error);
  json.End();
}

std::string Json(const SourceReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  json.Key("found").BeginArray();
  for (size_t i = 0; i < report.found.size(); ++i) WriteChannel(json, report, i);
  json.End();
  json.Key("duplicates").BeginArray();
  for (const DuplicateChannel& duplicate : report.duplicates) {
    json.BeginObject();
    json.Member("source", duplicate.source);
    json.Member("device", duplicate.channel);
    json.Member("reads", duplicate.reads);
    json.Member("used", duplicate.used);
    json.End();
  }
  json.End();
  json.Key("refused").BeginArray();
  for (const RefusedSource& refused : report.refused) {
    json.BeginObject();
    json.Member("source", refused.source);
    json.Member("reason", refused.reason);
    json.Member("remedy", refused.remedy);
    json.End();
  }
  json.End();
  json.Key("checks").BeginArray();
  for (const SourceCheck& check : report.checks) {
    json.BeginObject();
    json.Member("what", check.what);
    json.Member("verdict", VerdictText(check.verdict));
    json.Member("detail", check.detail);
    json.End();
  }
  json.End();
  json.Member("cpu_time", report.cpu_time);
  json.Key("features").BeginArray();
  for (const std::string& feature : report.features) json.Value(feature);
  json.End();
  json.Member("machine", report.machine);
  json.Member("tool", report.tool);
  json.End();
  return json.Take() + "\n";
}

std::string Csv(const SourceReport& report) {
  const auto number = [](double value) {
    return CsvNumber(std::isfinite(value) ? std::optional(value) : std::nullopt);
  };
  std::string text =
      "source,device,scope,kind,unit,wrap,update_period_us,within,moves,reads,resolution,seen_w,"
      "smallest_j,origin,error,schema\n";
  for (size_t i = 0; i < report.found.size(); ++i) {
    const PowerChannel& channel = report.found[i];
    const MeterTraits& meter = channel.meter;
    const std::string_view moves = !meter.moves ? "" : *meter.moves ? "true" : "false";
    text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", CsvText(meter.source),
        CsvText(channel.name), ScopeName(channel.scope), KindText(channel), CsvText(meter.unit),
        meter.wrap, number(meter.update_period_us), CsvText(report.within[i]), moves,
        CsvText(meter.reads), number(meter.per_count), number(report.seen_w[i]),
        number(report.smallest_j[i]), OriginName(meter.origin), CsvNumber(meter.error), kSchema);
  }
  return text;
}

}  // namespace

std::string Write(const SourceReport& report, Format format, const ViewOptions& options) {
  if (format == Format::kJson) return Json(report);
  if (format == Format::kCsv) return Csv(report);
  return SourcesTable(report, options).Write();
}

}  // namespace beryl::views
