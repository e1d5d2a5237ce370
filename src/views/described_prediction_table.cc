// The energy of a model that was never run, for a terminal.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/described.h"
#include "views/energy_use.h"
#include "views/text_page.h"

namespace beryl::views {
namespace {

constexpr int kWide = 130;  // from here on, work stands beside energy

class PredictionTable : public TextPage {
 public:
  PredictionTable(const DescribedPrediction& prediction, const ViewOptions& options)
      : TextPage(options),
        prediction_(prediction),
        description_(prediction.description),
        depth_(options.depth) {}

  std::string Write() {
    if (!prediction_.calibrated) {
      Paragraph(UncalibratedText(prediction_.profile), 0, kWarningStyle);
    }
    Paragraph(Bold(fmt::format("{}: {}, {}", Printable(description_.model),
                               description_.tree.nodes[0].type, InputText(description_))));
    Headline();
    for (const NodeId phase : PhasesOf(description_)) Phase(phase);
    Costs();
    Line();
    Tree();
    Line();
    Foot();
    return Take();
  }

 private:
  static constexpr int kShare = 8;
  static constexpr int kNumber = 10;
  static constexpr int kRange = 20;

  // "12.3 J (between 11.0 J and 13.5 J), in 61.5 ms at 200 W; 96.1 mJ a token"
  std::string EnergyText(NodeId node) const {
    const double low = ValueAt(prediction_.energy.low, node);
    const double high = ValueAt(prediction_.energy.high, node);
    std::string text = JoulesOrDash(prediction_.energy.total[node]);
    if (std::isfinite(low) && std::isfinite(high)) {
      text += fmt::format(" (between {} and {})", FormatJoules(low), FormatJoules(high));
    }
    const double seconds = ValueAt(prediction_.seconds, node);
    if (std::isfinite(seconds)) text += fmt::format(", in {}", FormatSeconds(seconds));
    const double watts = WattsOf(prediction_, node);
    if (std::isfinite(watts)) text += fmt::format(" at {}", FormatWatts(watts));
    const double a_token = JoulesPerToken(prediction_, node);
    if (std::isfinite(a_token)) text += fmt::format("; {} a token", FormatJoules(a_token));
    return text;
  }

  void Headline() { Paragraph(EnergyText(0)); }

  void Phase(NodeId phase) {
    Paragraph(
        fmt::format("{}: {}", RunPhaseName(description_.nodes[phase].phase), EnergyText(phase)), 2);
  }

  void Costs() {
    if (!prediction_.costs) return;
    const Electricity& grid = prediction_.costs->electricity;
    for (const QueryCosts::Row& row : prediction_.costs->rows) {
      Paragraph(fmt::format(
          "{} queries: {} kWh, {} {}, {} kg CO2e", FigureOrDash(prediction_.costs->queries),
          FigureOrDash(row.kwh), FigureOrDash(row.price),
          grid.currency.empty() ? "price" : Printable(grid.currency), FigureOrDash(row.co2e_kg)));
    }
  }

  void Tree() {
    const std::vector<FoldedNode> all = FoldLike(description_);
    const std::vector<FoldedNode> shown = ShownLines(description_, all, depth_);
    wide_ = width_ >= kWide;
    const int columns = kShare + 2 * kNumber + kRange + (wide_ ? 9 + 9 + 9 : 0);
    const int most = std::max(20, width_ - columns);
    size_t widest = 0;
    for (const FoldedNode& line : shown) {
      widest = std::max(widest,
                        DisplayWidth(LineName(description_, line, static_cast<size_t>(most) - 2)));
    }
    const int name = std::min(most, static_cast<int>(widest) + 2);
    Line(Dim(Padded("", name) + RightAligned("share", kShare) + RightAligned("energy", kNumber) +
             RightAligned("between", kRange) + RightAligned("time", kNumber) +
             (wide_ ? RightAligned("power", 9) + RightAligned("FLOP", 9) + RightAligned("moved", 9)
                    : "")));
    for (const FoldedNode& line : shown) Row(line, name);
    left_out_ = LeftOutText(description_, all, shown);
  }

  void Row(const FoldedNode& line, int name) {
    auto sum = [&](const std::vector<double>& column) {
      return SumOver(line, [&](NodeId node) { return ValueAt(column, node); });
    };
    const bool beyond = std::any_of(line.nodes.begin(), line.nodes.end(),
                                    [&](NodeId node) { return IsBeyond(prediction_, node); });
    any_beyond_ = any_beyond_ || beyond;
    const double joules = sum(prediction_.energy.total);
    const double seconds = sum(prediction_.seconds);
    std::string label = LineName(description_, line, static_cast<size_t>(name) - 2);
    if (beyond) label += " *";
    std::string text =
        Padded(label, name) +
        RightAligned(PercentOrDash(joules / prediction_.energy.total[0]), kShare) +
        RightAligned(JoulesOrDash(joules), kNumber) +
        RightAligned(JoulesBetween(sum(prediction_.energy.low), sum(prediction_.energy.high)),
                     kRange) +
        RightAligned(std::isfinite(seconds) ? FormatSeconds(seconds) : "-", kNumber);
    if (wide_) {
      Work work;
      for (const NodeId node : line.nodes) work += description_.nodes[node].work;
      // Like nodes draw the same.
      const double watts = WattsOf(prediction_, line.first());
      text += RightAligned(std::isfinite(watts) ? FormatWatts(watts) : "-", 9) +
              RightAligned(Amount(work.flops), 9) + RightAligned(Amount(work.Bytes(), "B"), 9);
    }
    Line(text);
  }

  void Foot() {
    if (!left_out_.empty()) Paragraph(left_out_, 0, kDimStyle);
    if (any_beyond_) {
      Paragraph("* beyond what the profile was trained on: its interval is wide", 0, kWarningStyle);
    }
    for (const std::string& note : prediction_.notes) Paragraph("note: " + note, 0, kWarningStyle);
    for (const std::string& sentence : description_.assumptions) Paragraph("assumed: " + sentence);
    if (prediction_.costs) Paragraph(ElectricityText(prediction_.costs->electricity));
    Paragraph(
        fmt::format("predicted from the configuration by {}{}{}; between: where {:.0f} % of "
                    "measurements are expected; {}",
                    Printable(prediction_.profile), prediction_.machine.empty() ? "" : ", ",
                    Printable(prediction_.machine), 100 * prediction_.nominal, prediction_.tool),
        0, kDimStyle);
  }

  const DescribedPrediction& prediction_;
  const Description& description_;
  std::optional<int> depth_;
  std::string left_out_;
  bool wide_ = false;
  bool any_beyond_ = false;
};

}  // namespace

std::string WriteTable(const DescribedPrediction& prediction, const ViewOptions& options) {
  return PredictionTable(prediction, options).Write();
}

}  // namespace beryl::views
