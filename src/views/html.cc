#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/embedded.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// A page that is looked at needs no more rows than this; the JSON has them all.
constexpr int kPageRows = 500;

void WriteSeries(JsonWriter& json, const char* key, const std::vector<double>& values) {
  json.Key(key).BeginArray();
  // Three decimals are milliwatts; the picture is not finer.
  for (const double value : values) json.Value(std::round(value * 1e3) / 1e3);
  json.End();
}

void WriteTimeline(JsonWriter& json, const Timeline& timeline) {
  json.Key("timeline").BeginObject();
  json.Member("start", FormatTime(timeline.start));
  json.Member("duration_s", timeline.duration.seconds());
  json.Objects("channels", timeline.channels, [&](const Timeline::Channel& channel) {
    json.Member("device", channel.name);
    WriteSeries(json, "mean_w", channel.mean_w);
    WriteSeries(json, "min_w", channel.min_w);
    WriteSeries(json, "max_w", channel.max_w);
  });
  WriteSteps(json, timeline);
  json.Key("activity").BeginObject();
  for (size_t phase = 0; phase < timeline.activity.size(); ++phase) {
    WriteSeries(json, PhaseName(static_cast<Phase>(phase)).data(), timeline.activity[phase]);
  }
  json.End();
  json.End();
}

std::string Title(const RunContext& context) {
  if (context.ops_files.empty()) return "run";
  const std::string& file = context.ops_files.front();
  std::string title = file.substr(file.rfind('/') + 1);
  if (context.ops_files.size() > 1) {
    title += " and " + std::to_string(context.ops_files.size() - 1) + " more";
  }
  return title;
}

}  // namespace

std::string WriteHtml(const AccountReport& report, const ViewOptions& options) {
  ViewOptions page = options;
  page.top = std::min(options.top.value_or(kPageRows), kPageRows);
  JsonWriter json;
  BeginResult(json, "beryl.report/1", report.provenance);
  json.Member("title", Title(report.context));
  json.Key("account");
  WriteAccountObject(json, report, report.folded, page);
  if (report.timeline) WriteTimeline(json, *report.timeline);
  json.End();
  // Inside a script element nothing may look like its end.
  const std::string raw = json.Take();
  const std::string data = fmt::format("{}", fmt::join(Split(raw, '<'), "\\u003c"));
  constexpr std::string_view kPlace = "__BERYL_DATA__";
  const std::string_view page_text = embedded::kReportHtml;
  const size_t at = page_text.find(kPlace);
  return std::string(page_text.substr(0, at))
      .append(data)
      .append(page_text.substr(at + kPlace.size()));
}

}  // namespace beryl::views
