#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/embedded.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

// A page needs no more rows than this; the JSON has them all.
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

// Inserts `data` into the page of src/views/page.
std::string Page(std::string_view data) {
  std::string page;
  std::string_view rest = embedded::kReportHtml;
  auto put = [&](std::string_view place, std::initializer_list<std::string_view> texts) {
    const size_t at = rest.find(place);
    page += rest.substr(0, at);
    for (const std::string_view text : texts) page += text;
    rest.remove_prefix(at + place.size());
  };
  put("__BERYL_CSS__", {embedded::kReportCss});
  put("__BERYL_DATA__", {data});
  put("__BERYL_JS__", {embedded::kElementsJs, embedded::kHeaderJs, embedded::kTimelineJs,
                       embedded::kTreeJs, embedded::kOperationsJs});
  return page.append(rest);
}

}  // namespace

std::string WriteHtml(const AccountReport& report, const ViewOptions& options) {
  ViewOptions page = options;
  page.top = std::min(options.top.value_or(kPageRows), kPageRows);
  // The page sorts and draws by these; chosen columns come in addition.
  if (!page.columns.empty()) {
    for (const char* needed : {"devices", "phases", "energy"}) {
      if (std::find(page.columns.begin(), page.columns.end(), needed) == page.columns.end()) {
        page.columns.insert(page.columns.begin(), needed);
      }
    }
  }
  JsonWriter json;
  BeginResult(json, "beryl.report/1", report.provenance);
  json.Member("title", Title(report.context));
  json.Key("account");
  WriteAccountObject(json, report, report.folded, page);
  if (report.timeline) WriteTimeline(json, *report.timeline);
  json.End();
  // Nothing inside a script element may look like its end tag.
  const std::string raw = json.Take();
  const std::string data = fmt::format("{}", fmt::join(Split(raw, '<'), "\\u003c"));
  return Page(data);
}

}  // namespace beryl::views
