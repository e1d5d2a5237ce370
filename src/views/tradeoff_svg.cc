// The picture of accuracy against energy, with the Pareto front.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/draw/label_places.h"
#include "views/draw/svg_parts.h"
#include "views/energy_use.h"

namespace beryl::views {
namespace {

constexpr double kPlotHeight = 400;
constexpr double kMark = 5;  // half the width of a mark
constexpr double kLabel = 11;
constexpr double kLabelHeight = 14;
constexpr double kWidestLabel = 150;

constexpr Color kPredicted{0x0072B2, 0x5AA9E6};

Color ColorOf(bool predicted) { return predicted ? kPredicted : kAccent; }

class TradeoffPicture {
 public:
  explicit TradeoffPicture(const Tradeoff& tradeoff)
      : tradeoff_(tradeoff),
        canvas_("Accuracy against energy", "At " + TradeoffSize(tradeoff) + ". " + Said()) {}

  std::string Draw() {
    double y = DrawHeading(canvas_, kWidth, "Accuracy against energy", TradeoffSize(tradeoff_));
    y = DrawLegend(canvas_, kMargin, y + 2, kMargin + kInner, Legend()) + 8;
    top_ = y;
    bottom_ = y + kPlotHeight;
    SetScales();
    DrawLeftAxis(canvas_, y_, {x_.from, x_.to}, "accuracy", "");
    DrawBottomAxis(canvas_, x_, {bottom_, top_}, "energy per batch", "J");
    Limits();
    for (const Tradeoff::Choice& choice : tradeoff_.choices) Front(choice.predicted);
    for (const Tradeoff::Choice& choice : tradeoff_.choices) Marks(choice.predicted);
    Labels();
    std::vector<std::string> lines = TradeoffSentences(tradeoff_);
    lines.push_back(fmt::format("energy {}; data: {}; accuracies: {}; {}",
                                EnergySources(tradeoff_.origin), Printable(tradeoff_.origin.data),
                                Printable(tradeoff_.accuracy_file),
                                ToolText(tradeoff_.origin.provenance)));
    return FinishPicture(canvas_, kWidth, bottom_ + 58, lines, tradeoff_.origin.provenance);
  }

 private:
  static double JoulesOf(const Tradeoff::Point& point, bool predicted) {
    return ValueOrNan(EnergyOf(point, predicted));
  }
  static bool IsOptimal(const Tradeoff::Point& point, bool predicted) {
    return predicted ? point.optimal_predicted : point.optimal_measured;
  }

  std::string Said() const {
    std::string said;
    for (const std::string& sentence : TradeoffSentences(tradeoff_)) said += sentence + ". ";
    return said;
  }

  std::vector<LegendEntry> Legend() const {
    std::vector<LegendEntry> entries;
    for (const Tradeoff::Choice& choice : tradeoff_.choices) {
      entries.push_back({ColorOf(choice.predicted),
                         choice.predicted ? "predicted (diamonds), on the Pareto front"
                                          : "measured (circles), on the Pareto front"});
    }
    entries.push_back({kOther, "another model takes less and is as accurate"});
    return entries;
  }

  void SetScales() {
    double most = 0;
    double low = tradeoff_.points.front().accuracy;
    double high = low;
    for (const Tradeoff::Point& point : tradeoff_.points) {
      for (const auto& energy : {point.energy.measured, point.energy.predicted, point.high}) {
        most = std::max(most, energy.value_or(Joules{}).value);
      }
      low = std::min(low, point.accuracy);
      high = std::max(high, point.accuracy);
    }
    // A limit far outside would press all points into a corner; the text below the picture mentions
    // it.
    if (tradeoff_.budget && tradeoff_.budget->value < 1.5 * most) {
      most = std::max(most, tradeoff_.budget->value);
    }
    const double margin = high > low ? (high - low) * 0.1 : std::max(std::fabs(high) * 0.05, 1e-9);
    if (tradeoff_.target && *tradeoff_.target > low - 4 * margin &&
        *tradeoff_.target < high + 4 * margin) {
      low = std::min(low, *tradeoff_.target);
      high = std::max(high, *tradeoff_.target);
    }
    x_ = {0, most > 0 ? most * 1.08 : 1, kMargin + kAxisRoom, kMargin + kInner - 8};
    y_ = {low - margin, high + margin, bottom_, top_};
  }

  void Limits() {
    const ShapeStyle style{.stroke = kDim, .stroke_width = 1.2, .dashes = "4 4"};
    if (const double budget = ValueOrNan(tradeoff_.budget); budget >= 0 && budget <= x_.high) {
      const double x = x_(budget);
      canvas_.Line({x, top_}, {x, bottom_}, style);
      KeepOff({x, top_}, {x, bottom_});
      Aside({x - 4, bottom_ - 6}, "budget " + FormatJoules(budget), Anchor::kEnd);
    }
    if (tradeoff_.target && *tradeoff_.target >= y_.low && *tradeoff_.target <= y_.high) {
      const double y = y_(*tradeoff_.target);
      canvas_.Line({x_.from, y}, {x_.to, y}, style);
      KeepOff({x_.from, y}, {x_.to, y});
      // At the left, where there are rarely points.
      Aside({x_.from + 4, y - 4}, fmt::format("target {:g}", *tradeoff_.target), Anchor::kStart);
    }
  }

  // A word at a line of the plot; labels avoid it.
  void Aside(Point at, const std::string& text, Anchor anchor) {
    const double width = TextWidth(text, kLabel);
    if (anchor == Anchor::kEnd && at.x - width < x_.from) {
      at.x += 8;
      anchor = Anchor::kStart;
    }
    const double left = anchor == Anchor::kEnd ? at.x - width : at.x;
    canvas_.Text(at.x, at.y, text, {.size = kLabel, .color = kDim, .anchor = anchor});
    obstacles_.push_back({left, at.y - kLabelHeight + 3, left + width, at.y + 3});
  }

  // Labels keep off lines too, as far as they can.
  void KeepOff(Point from, Point to) {
    constexpr double kHalf = 2;
    obstacles_.push_back({std::min(from.x, to.x) - kHalf, std::min(from.y, to.y) - kHalf,
                          std::max(from.x, to.x) + kHalf, std::max(from.y, to.y) + kHalf});
  }

  // The best accuracy for at most that energy, as steps.
  void Front(bool predicted) {
    std::vector<Tradeoff::Point> front;
    for (const Tradeoff::Point& point : tradeoff_.points) {
      if (IsOptimal(point, predicted)) front.push_back(point);
    }
    std::stable_sort(front.begin(), front.end(), [&](const auto& a, const auto& b) {
      return JoulesOf(a, predicted) < JoulesOf(b, predicted);
    });
    std::vector<Point> line;
    for (const Tradeoff::Point& point : front) {
      const double x = x_(JoulesOf(point, predicted));
      if (!line.empty()) line.push_back({x, line.back().y});
      line.push_back({x, y_(point.accuracy)});
    }
    if (line.empty()) return;
    line.push_back({x_.to, line.back().y});
    for (size_t i = 1; i < line.size(); ++i) KeepOff(line[i - 1], line[i]);
    canvas_.Polyline(line, {.stroke = ColorOf(predicted),
                            .stroke_width = 1.8,
                            .opacity = 0.75,
                            .dashes = predicted ? "6 4" : ""});
  }

  void Marks(bool predicted) {
    for (const Tradeoff::Point& point : tradeoff_.points) {
      const double joules = JoulesOf(point, predicted);
      if (!std::isfinite(joules)) continue;
      const Point at{x_(joules), y_(point.accuracy)};
      const bool optimal = IsOptimal(point, predicted);
      const Color color = optimal ? ColorOf(predicted) : kOther;
      if (predicted && point.low && point.high) {
        const Point low{x_(std::max(0.0, point.low->value)), at.y};
        const Point high{x_(point.high->value), at.y};
        canvas_.Line(low, high, {.stroke = color, .stroke_width = 1});
        KeepOff(low, high);
      }
      const std::string tooltip =
          fmt::format("{}: accuracy {:g}, {} {}{}", Printable(point.label), point.accuracy,
                      FormatJoules(joules), predicted ? "predicted" : "measured",
                      optimal ? ", on the Pareto front" : "");
      if (predicted) {
        canvas_.Polygon({{at.x, at.y - kMark},
                         {at.x + kMark, at.y},
                         {at.x, at.y + kMark},
                         {at.x - kMark, at.y}},
                        {.fill = color, .stroke = kPage, .tooltip = tooltip});
      } else {
        canvas_.Rectangle(at.x - kMark, at.y - kMark, 2 * kMark, 2 * kMark,
                          {.fill = color, .stroke = kPage, .radius = kMark, .tooltip = tooltip});
      }
      obstacles_.push_back({at.x - kMark, at.y - kMark, at.x + kMark, at.y + kMark});
    }
  }

  void Labels() {
    std::vector<Point> points;
    std::vector<double> widths;
    std::vector<const Tradeoff::Point*> owners;
    // The front first: where room is short, its labels matter most.
    for (const bool front : {true, false}) {
      for (const Tradeoff::Point& point : tradeoff_.points) {
        if ((point.optimal_measured || point.optimal_predicted) != front) continue;
        const bool predicted = !point.energy.measured;
        points.push_back({x_(JoulesOf(point, predicted)), y_(point.accuracy)});
        widths.push_back(std::min(kWidestLabel, TextWidth(Printable(point.label), kLabel)));
        owners.push_back(&point);
      }
    }
    const auto places = PlaceLabels(points, widths, kLabelHeight, obstacles_,
                                    {x_.from + 2, top_ + 2, x_.to, bottom_ - 2});
    for (size_t i = 0; i < places.size(); ++i) {
      const Box& box = places[i].box;
      if (places[i].far) {
        canvas_.Line(points[i],
                     {std::clamp(points[i].x, box.left, box.right),
                      std::clamp(points[i].y, box.top, box.bottom)},
                     {.stroke = kOther});
      }
      const bool front = owners[i]->optimal_measured || owners[i]->optimal_predicted;
      canvas_.Text(box.left, box.bottom - 3, Printable(owners[i]->label),
                   {.size = kLabel, .color = front ? kInk : kDim, .room = widths[i] + 0.01});
    }
  }

  const Tradeoff& tradeoff_;
  SvgCanvas canvas_;
  double top_ = 0;
  double bottom_ = 0;
  Scale x_;
  Scale y_;
  std::vector<Box> obstacles_;
};

}  // namespace

std::string DrawTradeoff(const Tradeoff& tradeoff) {
  if (tradeoff.points.empty()) {
    SvgCanvas canvas("Accuracy against energy", "No model's energy and accuracy are both known");
    const double y = DrawHeading(canvas, kWidth, "Accuracy against energy",
                                 "No model's energy and accuracy are both known");
    return canvas.Take(kWidth, y, tradeoff.origin.provenance);
  }
  return TradeoffPicture(tradeoff).Draw();
}

}  // namespace beryl::views
