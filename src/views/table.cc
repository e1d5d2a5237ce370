// The terminal view: the tree with bars, the ranked operations, and the books.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/budget.h"
#include "views/text_page.h"
#include "views/writers.h"

namespace beryl::views {
namespace {

constexpr int kDefaultDepth = 6;
constexpr int kDefaultTop = 10;
// Of the whole, to get a line of its own: the first of these with which the tree fits a screen.
constexpr std::array<double, 4> kSmallestShares = {0.01, 0.02, 0.03, 0.05};
constexpr int kScreen = 40;
constexpr int kBarWidth = 16;
constexpr int kShortestLabel = 8;
constexpr size_t kDetailIndent = 8;

class TableWriter : public TextPage {
 public:
  TableWriter(const AccountReport& report, const ViewOptions& options)
      : TextPage(options), report_(report), options_(options) {}

  std::string Head() {
    Header();
    return Take();
  }

  std::string Books() {
    Ranks();
    Closure();
    Import();
    Notes();
    return Take();
  }

  std::string Summary() {
    Header();
    return Books();
  }

  std::string Write() {
    Header();
    Tree();
    Operations();
    text_ += BudgetTable(report_.budget, options_);
    return Books();
  }

 private:
  static std::string DeviceCell(const std::string& device, int width) {
    return Padded(Ellipsize(Printable(device), static_cast<size_t>(width)), width);
  }

  void Header() {
    const RunContext& context = report_.context;
    const std::vector<std::string>& names =
        context.run_files.empty() ? context.ops_files : context.run_files;
    std::string files = names.empty() ? "" : names.front();
    if (names.size() > 1) files += fmt::format(" (+{} more)", names.size() - 1);
    std::string line = Bold(Ellipsize(Printable(files), static_cast<size_t>(width_) - 20));
    if (!context.label.empty()) line += "  " + Styled("[" + context.label + "]", "\x1b[33m");
    Line(line);
    Paragraph(context.energy_source);
    Paragraph(fmt::format(
        "clock offset {} us: {}{}", static_cast<double>(report_.clock_offset.value) * 1e-3,
        report_.clock_reason, report_.steps > 1 ? fmt::format("; {} steps", report_.steps) : ""));
    Line();
  }

  const Column* Column(std::string_view label) const {
    for (const Column& column : report_.folded.columns) {
      if (column.label == label) return &column;
    }
    return nullptr;
  }

  double Total(NodeId node) const { return report_.folded.columns.front().total[node]; }

  void Tree() {
    const Column& main = report_.folded.columns.front();
    has_deviation_ = !main.deviation.empty() && width_ >= kNarrow;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      phases_[phase] = Column(PhaseName(static_cast<Phase>(phase)));
    }
    if (width_ < kNarrow) bar_width_ = kBarWidth / 2;
    label_width_ = width_ - bar_width_ - 20 - (has_deviation_ ? 12 : 0);
    std::string legend;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (phases_[phase] == nullptr) continue;
      legend += fmt::format("{} {}  ", Styled(kPhaseLooks[phase].glyph, kPhaseLooks[phase].color),
                            PhaseName(static_cast<Phase>(phase)));
    }
    Line(Bold(fmt::format("{}{}{}{}{}", Padded("where the joules went", label_width_),
                          Blanks(bar_width_ + 2), RightAligned("energy", 9),
                          RightAligned("share", 8),
                          has_deviation_ ? RightAligned("± a step", 12) : "")));
    NodeLine("", 0, report_.folded.tree.nodes[0].name);
    const size_t before = text_.size();
    for (const double share : kSmallestShares) {
      smallest_share_ = share;
      text_.resize(before);
      Children(0, "", options_.depth.value_or(kDefaultDepth));
      if (options_.depth || std::count(text_.begin() + static_cast<std::ptrdiff_t>(before),
                                       text_.end(), '\n') <= kScreen) {
        break;
      }
    }
    Line();
    while (legend.ends_with(' ')) legend.pop_back();
    if (!legend.empty()) Line("bars: " + legend);
    Line();
  }

  std::string Bar(NodeId node) const {
    const double whole = Total(0);
    if (!(whole > 0)) return Blanks(bar_width_);
    std::string bar;
    double done = 0;
    int drawn = 0;
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (phases_[phase] == nullptr) continue;
      const double energy = phases_[phase]->total[node];
      if (!std::isnan(energy)) done += energy;
      const int until =
          std::clamp(static_cast<int>(std::lround(done / whole * bar_width_)), drawn, bar_width_);
      std::string piece;
      for (; drawn < until; ++drawn) piece += kPhaseLooks[phase].glyph;
      if (!piece.empty()) bar += Styled(piece, kPhaseLooks[phase].color);
    }
    return bar + std::string(static_cast<size_t>(bar_width_ - drawn), ' ');
  }

  // The lines that lead to a node; far down in a deep tree not all of them fit.
  std::string Branch(const std::string& prefix) const {
    return Ellipsize(prefix, static_cast<size_t>(std::max(3, label_width_ - kShortestLabel - 1)));
  }

  void NodeLine(const std::string& whole_prefix, NodeId node, const std::string& label) {
    const std::string prefix = Branch(whole_prefix);
    const auto room = static_cast<size_t>(
        std::max(kShortestLabel, label_width_ - static_cast<int>(DisplayWidth(prefix)) - 1));
    const double energy = Total(node);
    const bool known = !std::isnan(energy);
    std::string line = Dim(prefix) + Padded(Ellipsize(Printable(label), room),
                                            label_width_ - static_cast<int>(DisplayWidth(prefix)));
    line += Bar(node) + "  ";
    line += RightAligned(known ? FormatJoules(energy) : "?", 9);
    line += RightAligned(known ? FormatPercent(energy / Total(0)) : "?", 8);
    if (has_deviation_ && known) {
      line += RightAligned("±" + FormatJoules(report_.folded.columns.front().deviation[node]), 12);
    }
    Line(line);
  }

  std::vector<NodeId> ChildrenOf(NodeId node) const {
    const auto& nodes = report_.folded.tree.nodes;
    std::vector<NodeId> children;
    for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
      children.push_back(child);
    }
    auto weight = [&](NodeId id) { return std::isnan(Total(id)) ? -1 : Total(id); };
    std::stable_sort(children.begin(), children.end(),
                     [&](NodeId a, NodeId b) { return weight(a) > weight(b); });
    return children;
  }

  std::string Label(NodeId node) const {
    const TreeNode& tree_node = report_.folded.tree.nodes[node];
    std::string label = tree_node.name;
    if (tree_node.folded > 1) label += fmt::format(" ×{}", tree_node.folded);
    return label;
  }

  // As deep as `depth`, which is small.
  void Children(NodeId node, const std::string& prefix, int depth) {  // NOLINT(misc-no-recursion)
    if (depth <= 0) return;
    const std::vector<NodeId> children = ChildrenOf(node);
    const double whole = Total(0);
    auto deserves_line = [&](double energy) {
      return std::isnan(energy) || (whole > 0 && energy >= smallest_share_ * whole);
    };
    size_t shown = 0;
    while (shown < children.size() && deserves_line(Total(children[shown]))) ++shown;
    // What the node did itself, beside what it called.
    const double self = report_.folded.columns.front().self[node];
    const bool show_self = !children.empty() && self > 0 && deserves_line(self);
    const bool show_rest = shown < children.size();
    for (size_t i = 0; i < shown; ++i) {
      const bool last = i + 1 == children.size() && !show_self;
      NodeLine(prefix + (last ? "└─ " : "├─ "), children[i], Label(children[i]));
      Children(children[i], prefix + (last ? "   " : "│  "), depth - 1);
    }
    if (show_self) RestLine(prefix + (show_rest ? "├─ " : "└─ "), "(itself)", self);
    if (!show_rest) return;
    double rest = 0;
    for (size_t i = shown; i < children.size(); ++i) {
      if (!std::isnan(Total(children[i]))) rest += Total(children[i]);
    }
    RestLine(prefix + "└─ ", fmt::format("{} more", FormatCount(children.size() - shown)), rest);
  }

  // A line for energy that is no node's total.
  void RestLine(const std::string& prefix, const std::string& label, double energy) {
    const std::string start = Branch(prefix);
    const double whole = Total(0);
    Line(Dim(start + Padded(label, label_width_ - static_cast<int>(DisplayWidth(start))) +
             Blanks(bar_width_ + 2) + RightAligned(FormatJoules(energy), 9) +
             RightAligned(FormatPercent(whole > 0 ? energy / whole : 0), 8)));
  }

  void Operations() {
    const auto top = static_cast<size_t>(std::max(0, options_.top.value_or(kDefaultTop)));
    const size_t count = std::min(top, report_.summary.size());
    if (count == 0) return;
    double attributed = 0;
    for (const ChannelAccount& account : report_.channels) attributed += account.attributed.value;
    const bool narrow = width_ < kNarrow;
    const int device_width = DeviceWidth(6);
    Line(Bold(fmt::format("{:>8}{:>7}{}{:>8}  {:<4}{:<{}} {}", "energy", "share",
                          narrow ? "" : fmt::format("{:>8}{:>9}", "power", "time"), "count", "",
                          "device", device_width,
                          narrow ? "operation" : "operation, layers added up")));
    for (size_t i = 0; i < count; ++i) {
      const OperationRow& row = report_.summary[i];
      const bool share = row.energy_j && attributed > 0;
      const std::string power_and_time =
          RightAligned(row.power_w ? FormatWatts(*row.power_w) : "?", 8) +
          RightAligned(FormatSeconds(row.seconds), 9);
      const std::string front =
          fmt::format("{}{}{}{:>8}  {:<4}{} ",
                      RightAligned(row.energy_j ? FormatJoules(*row.energy_j) : "?", 8),
                      RightAligned(share ? FormatPercent(*row.energy_j / attributed) : "?", 7),
                      narrow ? "" : power_and_time, FormatCount(row.count),
                      kPhaseLooks[static_cast<size_t>(row.phase)].short_name,
                      DeviceCell(row.device, device_width));
      const auto room =
          static_cast<size_t>(std::max(12, width_ - static_cast<int>(DisplayWidth(front))));
      Line(front + EllipsizePath(Printable(row.name), room));
    }
    if (count < report_.summary.size()) {
      Line(Dim(fmt::format("{:>9} more", FormatCount(report_.summary.size() - count))));
    }
    Line();
  }

  // How wide a column of device names has to be, within reason.
  int DeviceWidth(int least) const {
    int width = least;
    for (const ChannelAccount& account : report_.channels) {
      width = std::max(width, static_cast<int>(DisplayWidth(account.channel)) + 1);
    }
    constexpr int kWidest = 24;
    return std::min({width, kWidest, least + std::max(0, width_ - kNarrow)});
  }

  // Each rank's part, where there are several.
  void Ranks() {
    const double whole = Total(0);
    bool first = true;
    for (const Column& column : report_.folded.columns) {
      if (column.of != Column::Of::kRank) continue;
      if (first) Line(Bold(fmt::format("{:<24}{:>10}{:>8}", "rank", "operations", "share")));
      first = false;
      const double energy = column.total.front();
      Line(fmt::format("{}{}{}", Padded(Ellipsize(Printable(column.label), 24), 24),
                       RightAligned(std::isnan(energy) ? "?" : FormatJoules(energy), 10),
                       RightAligned(whole > 0 ? FormatPercent(energy / whole) : "?", 8)));
    }
    if (!first) Line();
  }

  void Closure() {
    const bool narrow = width_ < kNarrow;
    const int device_width = DeviceWidth(8);
    Line(Bold(fmt::format("{:<{}}{:>10} = {:>10}{} + {:>9}{} + {:>12}", "device", device_width,
                          "total", "operations", narrow ? "" : "       ", "idle",
                          narrow ? "" : "        ", "unattributed")));
    double worst = 0;
    bool estimated = false;
    for (const ChannelAccount& account : report_.channels) {
      estimated = estimated || account.origin == Origin::kEstimated;
      const double total = account.total.value;
      auto share = [&](Joules part, int width) {
        if (narrow) return std::string();
        return RightAligned(total != 0 ? FormatPercent(part.value / total) : "-", width);
      };
      Line(fmt::format("{}{} = {}{} + {}{} + {}", DeviceCell(account.channel, device_width),
                       RightAligned(FormatJoules(total), 10),
                       RightAligned(FormatJoules(account.attributed.value), 10),
                       share(account.attributed, 7),
                       RightAligned(FormatJoules(account.idle.value), 9), share(account.idle, 8),
                       RightAligned(FormatJoules(account.unattributed.value), 12)));
      Details(account);
      worst = std::max(worst, account.ClosureError());
    }
    Paragraph(
        std::isfinite(worst)
            ? fmt::format("closure: the parts sum to {}; left over {:.1e} of the total",
                          estimated ? "the totals" : "what was measured", worst)
            : "closure: the parts cannot be added up; a reading is too large to be a number of "
              "watts");
    Line();
  }

  // What there is to know about a channel, in as many lines as it takes.
  void Details(const ChannelAccount& account) {
    std::vector<std::string> parts = {
        fmt::format("over {} with {} readings, {}",
                    FormatSeconds((account.window_end - account.window_start).seconds()),
                    FormatCount(account.readings), account.policy),
        "feeds " + account.feeds};
    if (account.contained.value != 0) {
      parts.push_back(fmt::format("{} read, less {} contained",
                                  FormatJoules(account.measured.value),
                                  FormatJoules(account.contained.value)));
    }
    if (account.outside_trace.value > 0) {
      parts.push_back(fmt::format("{} of idle lies before or after the trace",
                                  FormatJoules(account.outside_trace.value)));
    }
    if (account.static_part) {
      parts.push_back(fmt::format("static part {}", FormatJoules(account.static_part->value)));
    }
    std::string line = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) {
      if (kDetailIndent + DisplayWidth(line) + DisplayWidth(parts[i]) + 2 >
          static_cast<size_t>(width_)) {
        Paragraph(line + ";", kDetailIndent, kDimStyle);
        line = parts[i];
      } else {
        line += "; " + parts[i];
      }
    }
    Paragraph(line, kDetailIndent, kDimStyle);
  }

  void Import() {
    for (const ImportReport& report : report_.imports) {
      const std::string name = report.file.substr(report.file.rfind('/') + 1);
      std::string line =
          fmt::format("read {} ({}): {} operations of {} events", Printable(name), report.format,
                      FormatCount(report.operations), FormatCount(report.events));
      if (report.device_events > 0) {
        line += fmt::format("; {} of {} device events tied to the operation that launched them",
                            FormatCount(report.tied), FormatCount(report.device_events));
      }
      if (report.outside_modules > 0) {
        line += fmt::format("; {} operations are outside every module",
                            FormatCount(report.outside_modules));
      }
      Paragraph(line);
      Findings(report, Finding::Kind::kDropped, "dropped");
      Findings(report, Finding::Kind::kRepaired, "repaired");
      Findings(report, Finding::Kind::kSkipped, "skipped");
    }
  }

  void Findings(const ImportReport& report, Finding::Kind kind, const char* what) {
    for (const Finding& finding : report.findings) {
      if (finding.kind != kind) continue;
      const std::string line =
          fmt::format("{} {}: {} (first at byte {})", what, FormatCount(finding.count),
                      finding.reason, finding.first_offset);
      Paragraph(line, 2, kind == Finding::Kind::kDropped ? kWarningStyle : kDimStyle);
    }
  }

  void Notes() {
    for (const std::string& note : report_.notes) {
      Paragraph("note: " + note, 0, kWarningStyle);
    }
  }

  const AccountReport& report_;
  const ViewOptions& options_;
  int bar_width_ = kBarWidth;
  int label_width_ = 0;
  bool has_deviation_ = false;
  double smallest_share_ = 0;
  std::array<const Column*, kPhaseCount> phases_{};
};

}  // namespace

std::string WriteHead(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Head();
}

std::string WriteBooks(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Books();
}

std::string WriteSummary(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Summary();
}

std::string WriteTable(const AccountReport& report, const ViewOptions& options) {
  return TableWriter(report, options).Write();
}

}  // namespace beryl::views
