// Power over time as a plot of characters, JSON and CSV.
#include "views/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr const char* kSchema = "beryl.timeline/1";

size_t SliceCount(const Timeline& timeline) { return timeline.activity.front().size(); }

void WriteNumbers(JsonWriter& json, const char* key, const std::vector<double>& values) {
  json.Key(key).BeginArray();
  for (const double value : values) json.Value(value);
  json.End();
}

std::string WriteTimelineJson(const AccountReport& report, const Timeline& timeline) {
  JsonWriter json;
  json.BeginObject();
  json.Member("schema", kSchema);
  WriteContext(json, report);
  WriteClosure(json, report);
  WriteNotes(json, NotesOf(report));
  json.Member("start", FormatTime(timeline.start));
  json.Member("duration_s", timeline.duration.seconds());
  json.Member("slices", SliceCount(timeline));
  json.Member("averaged_steps", timeline.averaged);
  json.Member("layers_of", timeline.layers_of);
  json.Key("layers").BeginArray();
  for (const std::string& layer : timeline.layers) json.Value(layer);
  json.End();
  json.Key("channels").BeginArray();
  for (const Timeline::Channel& channel : timeline.channels) {
    json.BeginObject();
    json.Member("device", channel.name);
    WriteNumbers(json, "mean_w", channel.mean_w);
    WriteNumbers(json, "min_w", channel.min_w);
    WriteNumbers(json, "max_w", channel.max_w);
    json.Key("layer").BeginArray();
    for (size_t slice = 0; slice < channel.other.size(); ++slice) {
      const Dominant dominant = DominantLayer(channel, slice);
      json.Value(dominant.what == Running::kLayer ? std::optional<size_t>(dominant.layer)
                                                  : std::nullopt);
    }
    json.End();
    json.End();
  }
  json.End();
  json.Key("activity").BeginObject();
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    WriteNumbers(json, PhaseName(static_cast<Phase>(phase)).data(), timeline.activity[phase]);
  }
  json.End();
  WriteSteps(json, timeline);
  json.End();
  return json.Take() + "\n";
}

std::string WriteTimelineCsv(const Timeline& timeline) {
  std::string text =
      "start_s,end_s,device,mean_w,min_w,max_w,layer,layer_share,forward,backward,optimizer,"
      "source,schema\n";
  const size_t slices = SliceCount(timeline);
  auto known = [](double value) {
    return CsvNumber(std::isnan(value) ? std::nullopt : std::optional<double>(value));
  };
  for (size_t slice = 0; slice < slices; ++slice) {
    const double width = timeline.duration.seconds() / static_cast<double>(slices);
    for (const Timeline::Channel& channel : timeline.channels) {
      const Dominant dominant = DominantLayer(channel, slice);
      const bool layer = dominant.what == Running::kLayer;
      text += fmt::format(
          "{:.9f},{:.9f},{},{},{},{},{},{},{},{},{},{},{}\n", width * static_cast<double>(slice),
          width * static_cast<double>(slice + 1), CsvText(channel.name),
          known(channel.mean_w[slice]), known(channel.min_w[slice]), known(channel.max_w[slice]),
          layer ? CsvText(timeline.layers[dominant.layer]) : "",
          layer ? fmt::format("{}", dominant.share) : "", timeline.activity[0][slice],
          timeline.activity[1][slice], timeline.activity[2][slice],
          std::isnan(channel.mean_w[slice]) ? "unknown" : OriginName(channel.origin), kSchema);
    }
  }
  return text;
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
    Line(Blanks(kGutter) + Padded("0", static_cast<int>(columns_) - 8) +
         RightAligned(FormatSeconds(timeline_.duration.seconds()), 8));
    if (!timeline_.layers.empty()) Legend();
    Line();
    return Take();
  }

 private:
  static constexpr int kGutter = 11;
  static constexpr int kRows = 6;

  // The slices of a column of characters.
  std::pair<size_t, size_t> SlicesOf(size_t column) const {
    const size_t slices = SliceCount(timeline_);
    const size_t from = column * slices / columns_;
    return {from, std::max(from + 1, (column + 1) * slices / columns_)};
  }

  static char Letter(size_t layer) {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
    return kLetters[layer % kLetters.size()];
  }

  void Plot(const Timeline::Channel& channel) {
    std::vector<double> watts(columns_, std::nan(""));
    double highest = 0;
    for (size_t column = 0; column < columns_; ++column) {
      const auto [from, to] = SlicesOf(column);
      double sum = 0;
      size_t count = 0;
      for (size_t slice = from; slice < to; ++slice) {
        if (std::isnan(channel.mean_w[slice])) continue;
        sum += channel.mean_w[slice];
        ++count;
      }
      if (count > 0) watts[column] = sum / static_cast<double>(count);
      highest = std::max(highest, std::isnan(watts[column]) ? 0 : watts[column]);
    }
    static constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄",
                                                           "▅", "▆", "▇", "█"};
    for (int row = kRows - 1; row >= 0; --row) {
      std::string line = row == kRows - 1 ? RightAligned(FormatWatts(highest), kGutter - 1) + " "
                         : row == 0       ? RightAligned("0 W", kGutter - 1) + " "
                         : row == kRows / 2
                             ? Padded(Ellipsize(Printable(channel.name), kGutter - 1), kGutter)
                             : Blanks(kGutter);
      for (size_t column = 0; column < columns_; ++column) {
        const double height =
            highest > 0 && !std::isnan(watts[column]) ? watts[column] / highest * kRows - row : 0;
        const auto eighths = std::clamp(static_cast<int>(std::lround(height * 8)), 0, 8);
        line += kBlocks[static_cast<size_t>(eighths)];
      }
      while (line.ends_with(' ')) line.pop_back();
      Line(line);
    }
    if (!channel.other.empty()) {
      std::string line = Padded("layer", kGutter);
      for (size_t column = 0; column < columns_; ++column) {
        const Dominant dominant = DominantLayer(channel, SlicesOf(column).first);
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
      const auto phase = DominantPhase(timeline_, SlicesOf(column).first);
      line += phase ? Styled(kPhaseLooks[static_cast<size_t>(*phase)].glyph,
                             kPhaseLooks[static_cast<size_t>(*phase)].color)
                    : " ";
    }
    Line(line);
    if (timeline_.steps.empty()) return;
    std::string marks(columns_, ' ');
    for (const RunStep& step : timeline_.steps) {
      const double along = static_cast<double>((step.start - timeline_.start).value) /
                           static_cast<double>(timeline_.duration.value);
      if (along < 0 || along >= 1) continue;
      marks[static_cast<size_t>(along * static_cast<double>(columns_))] = '|';
    }
    while (marks.ends_with(' ')) marks.pop_back();
    Line(Padded("steps", kGutter) + marks);
  }

  void Legend() {
    std::string text = fmt::format("layers of {}:", timeline_.layers_of);
    for (size_t layer = 0; layer < timeline_.layers.size(); ++layer) {
      text += fmt::format(" {} {}", Letter(layer), timeline_.layers[layer]);
    }
    Paragraph(text + " . others", 0, kDimStyle);
    Paragraph("phase: █ forward ▓ backward ░ optimizer", 0, kDimStyle);
  }

  const Timeline& timeline_;
  size_t columns_;
};

}  // namespace

std::string TimelineTitle(const Timeline& timeline) {
  return timeline.averaged > 0 ? fmt::format(
                                     "Power over a step, mean of {} steps at the same "
                                     "elapsed time",
                                     timeline.averaged)
                               : "Power over time";
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
  // Whether any layer runs is one question, which of them another: many layers at once are still
  // not "other".
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
  switch (format) {
    case Format::kJson:
      return WriteTimelineJson(report, timeline);
    case Format::kCsv:
      return WriteTimelineCsv(timeline);
    case Format::kSvg:
      return DrawTimeline(report, timeline);
    default:
      return WriteHead(report, options) + TimelineTable(timeline, options).Write() +
             WriteBooks(report, options);
  }
}

}  // namespace beryl::views
