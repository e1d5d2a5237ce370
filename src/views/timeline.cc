// Power over time as a plot of characters, JSON and CSV.
#include "views/timeline.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "views/text/csv_table.h"
#include "views/text/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.timeline/1";

size_t SliceCount(const Timeline& timeline) { return timeline.activity.front().size(); }

std::string WriteTimelineJson(const AccountReport& report, const Timeline& timeline) {
  JsonWriter json;
  BeginRunResult(json, kSchema, report);
  json.Member("start", FormatTime(timeline.start));
  json.Member("duration_s", timeline.duration.seconds()).Member("slices", SliceCount(timeline));
  json.Member("averaged_steps", timeline.averaged).Member("layers_of", timeline.layers_of);
  json.Member("layers", timeline.layers);
  json.Objects("channels", timeline.channels, [&](const Timeline::Channel& channel) {
    json.Member("device", channel.name).Member("mean_w", channel.mean_w);
    json.Member("min_w", channel.min_w).Member("max_w", channel.max_w);
    json.Key("layer").BeginArray();
    for (size_t slice = 0; slice < channel.other.size(); ++slice) {
      const Dominant dominant = DominantLayer(channel, slice);
      json.Value(dominant.what == Running::kLayer ? std::optional<size_t>(dominant.layer)
                                                  : std::nullopt);
    }
    json.End();
  });
  WritePhases(json, "activity", timeline.activity);
  WriteSteps(json, timeline);
  return EndResult(json);
}

std::string WriteTimelineCsv(const AccountReport& report, const Timeline& timeline) {
  CsvTable csv(kSchema, report.provenance,
               "start_s,end_s,device,mean_w,min_w,max_w,layer,layer_share,forward,backward,"
               "optimizer,source");
  const size_t slices = SliceCount(timeline);
  const auto time = [&](size_t slice) {
    const double width = timeline.duration.seconds() / static_cast<double>(slices);
    return fmt::format("{:.9f}", width * static_cast<double>(slice));
  };
  for (size_t slice = 0; slice < slices; ++slice) {
    for (const Timeline::Channel& channel : timeline.channels) {
      const Dominant dominant = DominantLayer(channel, slice);
      const bool layer = dominant.what == Running::kLayer;
      csv.Row(time(slice), time(slice + 1), channel.name, channel.mean_w[slice],
              channel.min_w[slice], channel.max_w[slice],
              layer ? timeline.layers[dominant.layer] : "",
              layer ? std::optional(dominant.share) : std::nullopt, timeline.activity[0][slice],
              timeline.activity[1][slice], timeline.activity[2][slice],
              std::isnan(channel.mean_w[slice]) ? "unknown" : OriginName(channel.origin));
    }
  }
  return csv.Take();
}

// A plot of each channel in block characters, with what ran below it.
class TimelineTable : public TextPage {
 public:
  TimelineTable(const Timeline& timeline, const ViewOptions& options)
      : TextPage(options),
        timeline_(timeline),
        columns_(std::min<size_t>(static_cast<size_t>(width_ - kGutter), SliceCount(timeline))) {}

  std::string Write() {
    Line(Bold(TimelineTitle(timeline_)));
    Line();
    for (const Timeline::Channel& channel : timeline_.channels) Plot(channel);
    Phases();
    TimeAxis(timeline_.duration.seconds(), columns_);
    if (!timeline_.layers.empty()) Legend();
    Line();
    return Take();
  }

 private:
  size_t FirstSlice(size_t column) const {
    return SlicesOf(column, columns_, SliceCount(timeline_)).first;
  }

  static char Letter(size_t layer) {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
    return kLetters[layer % kLetters.size()];
  }

  void Plot(const Timeline::Channel& channel) {
    constexpr int kRows = 6;
    PowerPlot(channel.name, channel.mean_w, kRows, columns_, " ");
    if (!channel.other.empty()) {
      std::string line = Padded("layer", kGutter);
      for (size_t column = 0; column < columns_; ++column) {
        const Dominant dominant = DominantLayer(channel, FirstSlice(column));
        line += dominant.what == Running::kLayer  ? Letter(dominant.layer)
                : dominant.what == Running::kElse ? '.'
                                                  : ' ';
      }
      Line(Dim(line));
    }
    Line();
  }

  void Phases() {
    std::string line = Padded("phase", kGutter);
    for (size_t column = 0; column < columns_; ++column) {
      const auto phase = DominantPhase(timeline_, FirstSlice(column));
      line += phase ? Styled(kPhaseLooks[static_cast<size_t>(*phase)].glyph,
                             kPhaseLooks[static_cast<size_t>(*phase)].color)
                    : " ";
    }
    Line(line);
    if (timeline_.steps.empty()) return;
    std::vector<double> starts;
    for (const RunStep& step : timeline_.steps) {
      starts.push_back(static_cast<double>((step.start - timeline_.start).value) /
                       static_cast<double>(timeline_.duration.value));
    }
    Marks("steps", starts, columns_);
  }

  void Legend() {
    std::string text = fmt::format("layers of {}:", timeline_.layers_of);
    for (size_t layer = 0; layer < timeline_.layers.size(); ++layer) {
      text += fmt::format(" {} {}", Letter(layer), timeline_.layers[layer]);
    }
    SmallPrint(text + " . others");
    SmallPrint("phase: █ forward ▓ backward ░ optimizer");
  }

  const Timeline& timeline_;
  size_t columns_;
};

}  // namespace

std::string TimelineTitle(const Timeline& timeline) {
  if (timeline.averaged == 0) return "Power over time";
  return fmt::format("Power over a step, mean of {} steps at the same elapsed time",
                     timeline.averaged);
}

Dominant DominantLayer(const Timeline::Channel& channel, size_t slice) {
  if (channel.other.empty()) return {};
  Dominant dominant;
  double layers = 0;
  for (size_t layer = 0; layer < channel.layers.size(); ++layer) {
    const double share = channel.layers[layer][slice];
    layers += share;
    if (share > dominant.share) dominant = {Running::kLayer, layer, share};
  }
  // First decides whether layers ran more than the rest, then which layer ran most: many layers
  // together are not "other".
  if (layers + channel.other[slice] <= 0) return {};
  if (channel.other[slice] > layers) return {Running::kElse, 0, channel.other[slice]};
  return dominant;
}

std::optional<Phase> DominantPhase(const Timeline& timeline, size_t slice) {
  std::optional<Phase> dominant;
  double most = 0;
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (timeline.activity[phase][slice] <= most) continue;
    most = timeline.activity[phase][slice];
    dominant = static_cast<Phase>(phase);
  }
  return dominant;
}

std::string Write(const AccountReport& report, const Timeline& timeline, Format format,
                  const ViewOptions& options) {
  if (format == Format::kJson) return WriteTimelineJson(report, timeline);
  if (format == Format::kCsv) return WriteTimelineCsv(report, timeline);
  if (format == Format::kSvg) return DrawTimeline(report, timeline);
  return WriteHead(report, options) + TimelineTable(timeline, options).Write() +
         WriteBalances(report, options);
}

}  // namespace beryl::views
