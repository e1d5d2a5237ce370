// A tree for a terminal: names with the lines that lead to them, and a cell for every column.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "views/text/figures.h"
#include "views/text/text_page.h"
#include "views/text/tree_view.h"

namespace beryl::views {
namespace {

// The least share of the whole that gets its own line: the first of these with which the tree fits
// on a screen.
constexpr std::array<double, 4> kSmallestShares = {0.01, 0.02, 0.03, 0.05};
constexpr size_t kScreen = 40;
constexpr int kBarWidth = 16;
constexpr int kShortestLabel = 20;
constexpr int kGoodLabel = 40;  // that names want to have
constexpr size_t kShortestName = 8;
constexpr int kGap = 2;

// A line of the table. A line without a node has only the first column.
struct TableLine {
  NodeId node = kNoNode;
  std::string prefix;
  std::string label;
  std::string type;
  double rest = kUnknown;
};

// One column of the table.
struct Cell {
  std::string head;
  enum class Want : uint8_t { kAlways, kDetail, kRoom };
  Want want = Want::kAlways;
  std::vector<std::string> texts;

  size_t WidestText() const {
    size_t widest = 0;
    for (const std::string& text : texts) widest = std::max(widest, DisplayWidth(text));
    return widest;
  }
  int Width() const { return static_cast<int>(std::max(DisplayWidth(head), WidestText())) + kGap; }
};

class TableMaker : public TextPage {
 public:
  TableMaker(const TreeColumns& tree, const TableLook& look, const ViewOptions& options)
      : TextPage(options),
        tree_(tree.tree),
        columns_(tree),
        look_(look),
        main_(tree.columns.front()) {
    for (const Column& column : tree.columns) {
      if (column.of != Column::Of::kPhase) continue;
      for (size_t phase = 0; phase < kPhaseCount; ++phase) {
        if (column.label == PhaseName(static_cast<Phase>(phase))) phases_[phase] = &column;
      }
    }
  }

  std::string Write() {
    FindLines();
    MakeCells();
    LeaveOutWhatHasNoRoom();
    ShortenHeads();
    const int label = LabelWidth();
    NarrowPrefixes(static_cast<size_t>(label));
    std::string head = Padded(look_.title, label) + Blanks(bar_width_);
    for (const Cell& cell : cells_) head += RightAligned(cell.head, cell.Width());
    Line(Bold(head));
    for (size_t i = 0; i < lines_.size(); ++i) WriteLine(i, label);
    Line();
    Legend();
    return Take();
  }

 private:
  double Total(NodeId node) const { return main_.total[node]; }

  // Nodes whose values are all zero or unknown are left out.
  bool DoesNothing(NodeId node) const {
    return std::all_of(columns_.columns.begin(), columns_.columns.end(), [&](const Column& column) {
      const double value = column.total[node];
      return value == 0 || std::isnan(value) || column.name == "runs";
    });
  }

  bool MayShow(NodeId node) const {
    const Level deepest = options_.level.value_or(look_.deepest);
    const int depth = std::min(depth_, options_.depth.value_or(look_.depth));
    // A depth that was asked for goes through all levels.
    const bool level = options_.depth && !options_.level ? true : IsUpTo(deepest, tree_, node);
    return level && tree_[node].depth <= depth;
  }

  void FindLines() {
    const bool free = !options_.depth && !options_.level;
    for (const double share : kSmallestShares) {
      smallest_share_ = look_.sorted ? share : 0;
      CollectLines();
      if (!free || lines_.size() <= kScreen || !look_.sorted) break;
    }
    for (depth_ = Deepest() - 1; free && lines_.size() > kScreen + 1 && depth_ > 0; --depth_) {
      CollectLines();
    }
  }

  int Deepest() const {
    int deepest = 0;
    for (const TableLine& line : lines_) {
      if (line.node != kNoNode) deepest = std::max<int>(deepest, tree_[line.node].depth);
    }
    return deepest;
  }

  void CollectLines() {
    lines_.clear();
    lines_.push_back({0, "", Printable(NodeLabel(tree_[0])), TypeOf(0), kUnknown});
    Collect(0, "");
  }

  std::string TypeOf(NodeId node) const {
    const TreeNode& of = tree_[node];
    const bool told = of.type.empty() || of.level > Level::kMl || of.name.starts_with(of.type);
    return told ? "" : Printable(of.type);
  }

  // As deep as the tree, which is bounded.
  void Collect(NodeId node, const std::string& prefix) {  // NOLINT(misc-no-recursion)
    std::vector<NodeId> children;
    for (const NodeId child : Children(tree_, node)) {
      if (MayShow(child) && (look_.sorted || !DoesNothing(child))) children.push_back(child);
    }
    if (children.empty()) return;
    if (look_.sorted) SortByTotal(children);
    const double whole = Total(0);
    const auto deserves_line = [&](double value) {
      return !look_.sorted || std::isnan(value) || (whole > 0 && value >= smallest_share_ * whole);
    };
    size_t shown = 0;
    while (shown < children.size() && deserves_line(Total(children[shown]))) ++shown;
    // The node's own energy, without its children.
    const double self = At(main_.self, node);
    const bool show_self = look_.sorted && self > 0 && deserves_line(self);
    const bool show_rest = shown < children.size();
    for (size_t i = 0; i < shown; ++i) {
      const NodeId child = children[i];
      const bool last = i + 1 == children.size() && !show_self;
      lines_.push_back({child, prefix + (last ? "└─ " : "├─ "), Printable(NodeLabel(tree_[child])),
                        TypeOf(child), kUnknown});
      Collect(child, prefix + (last ? "   " : "│  "));
    }
    if (show_self) {
      lines_.push_back({kNoNode, prefix + (show_rest ? "├─ " : "└─ "), "(itself)", "", self});
    }
    if (!show_rest) return;
    double rest = 0;
    for (size_t i = shown; i < children.size(); ++i) {
      if (!std::isnan(Total(children[i]))) rest += Total(children[i]);
    }
    lines_.push_back({kNoNode, prefix + "└─ ",
                      fmt::format("{} more", FormatCount(children.size() - shown)), "", rest});
  }

  void SortByTotal(std::vector<NodeId>& nodes) const {
    const auto weight = [&](NodeId node) { return std::isnan(Total(node)) ? -1 : Total(node); };
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](NodeId a, NodeId b) { return weight(a) > weight(b); });
  }

  // --- Cells.

  template <typename TextOf>
  void AddCell(std::string head, Cell::Want want, TextOf&& text_of) {
    Cell& cell = cells_.emplace_back();
    cell.head = std::move(head);
    cell.want = want;
    for (const TableLine& line : lines_) cell.texts.push_back(text_of(line));
  }

  void MakeCells() {
    const std::vector<std::string>& names =
        options_.columns.empty() ? look_.columns : options_.columns;
    AddColumns(names, Cell::Want::kAlways);
    for (const Column* column : ChosenColumns(columns_, names)) AddDeviation(*column);
    if (!options_.columns.empty()) return;
    AddColumns(look_.more, Cell::Want::kRoom);
    for (const std::string& key : look_.texts) {
      if (const TextColumn* text = columns_.FindText(key)) {
        AddCell(text->label, Cell::Want::kRoom, [&](const TableLine& line) {
          return line.node == kNoNode ? "" : text->values[line.node];
        });
      }
    }
  }

  void AddColumns(const std::vector<std::string>& names, Cell::Want want) {
    if (names.empty()) return;
    for (const Column* column : ChosenColumns(columns_, names)) {
      const bool is_main = column == &main_;
      AddCell(column->label, want, [&](const TableLine& line) {
        if (line.node == kNoNode) return RestText(*column, line.rest, is_main);
        std::string text = Figure(column->total[line.node], column->quantity);
        if (!column->marked_because.empty()) {
          const bool marked = column->IsMarked(line.node);
          text += marked ? fmt::format(" {}", column->mark) : "  ";
          if (marked) marks_.insert(fmt::format("{} {}", column->mark, column->marked_because));
        }
        return text;
      });
      if (!column->low.empty()) {
        AddCell("between", Cell::Want::kDetail, [&](const TableLine& line) {
          return line.node == kNoNode ? "" : Between(*column, line.node);
        });
      }
    }
  }

  void AddDeviation(const Column& column) {
    if (column.deviation.empty()) return;
    AddCell("± per step", Cell::Want::kDetail, [&](const TableLine& line) {
      if (line.node == kNoNode || std::isnan(column.total[line.node])) return std::string();
      return "±" + Figure(column.deviation[line.node], column.quantity);
    });
  }

  // A line without a node has a value and a share in the first column only.
  std::string RestText(const Column& column, double rest, bool is_main) const {
    if (is_main) return Figure(rest, column.quantity);
    return column.name == "share" ? Figure(rest / Total(0), column.quantity) : "";
  }

  static std::string Between(const Column& column, NodeId node) {
    const double low = At(column.low, node);
    const double high = At(column.high, node);
    if (std::isnan(low) || std::isnan(high)) return "-";
    return Figure(low, column.quantity) + " - " + Figure(high, column.quantity);
  }

  int CellsWidth() const {
    int width = 0;
    for (const Cell& cell : cells_) width += cell.Width();
    return width;
  }

  // Names want room. Columns that are shown only where there is some go first, from the right; then
  // the bars; then intervals and deviations.
  void LeaveOutWhatHasNoRoom() {
    const auto missing = [&](int label) {
      return CellsWidth() + bar_width_ + std::min(label, WidestLabel()) - width_;
    };
    const auto leave_out = [&](Cell::Want want, int label) {
      while (missing(label) > 0) {
        const auto extra = std::find_if(cells_.rbegin(), cells_.rend(),
                                        [&](const Cell& cell) { return cell.want == want; });
        if (extra == cells_.rend()) return;
        cells_.erase(std::next(extra).base());
      }
    };
    const bool has_bars = std::any_of(phases_.begin(), phases_.end(),
                                      [](const Column* phase) { return phase != nullptr; }) &&
                          (options_.columns.empty() || options_.columns.front() == main_.name);
    if (has_bars) bar_width_ = width_ < kNarrow ? kBarWidth / 2 : kBarWidth;
    leave_out(Cell::Want::kRoom, kGoodLabel);
    if (missing(kGoodLabel) > 0) bar_width_ = 0;
    leave_out(Cell::Want::kDetail, kShortestLabel);
  }

  // Heads may be as long as the names of files. The longest give way first.
  void ShortenHeads() {
    constexpr size_t kShortestHead = 8;
    std::vector<size_t> widths;
    for (const Cell& cell : cells_) widths.push_back(DisplayWidth(cell.head));
    int missing = CellsWidth() + bar_width_ + std::min(kShortestLabel, WidestLabel()) - width_;
    while (missing-- > 0) {
      size_t* longest = nullptr;
      for (size_t i = 0; i < cells_.size(); ++i) {
        const bool can = widths[i] > std::max(kShortestHead, cells_[i].WidestText());
        if (can && (longest == nullptr || widths[i] > *longest)) longest = &widths[i];
      }
      if (longest == nullptr) break;
      --*longest;
    }
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (widths[i] < DisplayWidth(cells_[i].head)) {
        cells_[i].head = Ellipsize(cells_[i].head, widths[i]);
      }
    }
  }

  int WidestLabel() const {
    size_t widest = DisplayWidth(look_.title);
    for (const TableLine& line : lines_) {
      const size_t type = line.type.empty() ? 0 : 1 + DisplayWidth(line.type);
      widest = std::max(widest, DisplayWidth(line.prefix) + DisplayWidth(line.label) + type);
    }
    return static_cast<int>(widest) + 1;
  }

  int LabelWidth() const {
    const int least = std::max(kShortestLabel, static_cast<int>(DisplayWidth(look_.title)));
    const int room = std::max(least, width_ - bar_width_ - CellsWidth());
    return std::min(room, WidestLabel());
  }

  static size_t LeastName(const TableLine& line) {
    return std::min(kShortestName, DisplayWidth(line.label));
  }

  // In a deep tree, the connecting lines may leave no room for names. Then each level takes one
  // column instead of three: "││├ " for "│  │  ├─ ".
  void NarrowPrefixes(size_t label) {
    const bool fits = std::all_of(lines_.begin(), lines_.end(), [&](const TableLine& line) {
      return DisplayWidth(line.prefix) + LeastName(line) < label;
    });
    if (fits) return;
    for (TableLine& line : lines_) {
      if (line.prefix.empty()) continue;
      std::string narrow;
      size_t column = 0;
      for (size_t at = 0; at < line.prefix.size(); ++column) {
        const size_t length = Utf8Length(std::string_view(line.prefix).substr(at));
        if (column % 3 == 0) narrow.append(line.prefix, at, length);
        at += length;
      }
      line.prefix = narrow + " ";
    }
  }

  void WriteLine(size_t index, int width) {
    const TableLine& line = lines_[index];
    const std::string prefix =
        Ellipsize(line.prefix, static_cast<size_t>(width) - LeastName(line) - 1);
    const size_t room = static_cast<size_t>(width) - DisplayWidth(prefix) - 1;
    const std::string label = Ellipsize(line.label, std::max(LeastName(line), room));
    const size_t left = room - std::min(room, DisplayWidth(label));
    const bool typed = !line.type.empty() && DisplayWidth(line.type) < left;
    std::string text = Dim(prefix);
    text += line.node == kNoNode ? Dim(label) : label;
    if (typed) text += " " + Dim(line.type);
    const size_t used =
        DisplayWidth(prefix) + DisplayWidth(label) + (typed ? 1 + DisplayWidth(line.type) : 0);
    text += Blanks(width - static_cast<int>(used)) + Bar(line.node);
    std::string cells;
    for (const Cell& cell : cells_) cells += RightAligned(cell.texts[index], cell.Width());
    while (cells.ends_with(' ')) cells.pop_back();
    Line(text + (line.node == kNoNode ? Dim(cells) : cells));
  }

  std::string Bar(NodeId node) const {
    if (node == kNoNode) return Blanks(bar_width_);
    std::array<double, kPhaseCount> parts{};
    for (size_t phase = 0; phase < kPhaseCount; ++phase) {
      if (phases_[phase] != nullptr) parts[phase] = phases_[phase]->total[node];
    }
    return PhaseBar(parts, Total(0), bar_width_);
  }

  // --- Below the table.

  void Legend() {
    const std::string legend =
        PhaseLegend({phases_[0] != nullptr, phases_[1] != nullptr, phases_[2] != nullptr});
    if (bar_width_ > 0 && !legend.empty()) Line(legend);
    for (const std::string& mark : marks_) Paragraph(mark, 0, kWarningStyle);
    LeftOut();
  }

  // Sorted trees say in each place what they leave out.
  void LeftOut() {
    if (look_.sorted) return;
    size_t all = 0;
    size_t math = 0;
    int deepest = 0;
    for (NodeId node = 0; node < tree_.size(); ++node) {
      if (node > 0 && DoesNothing(node)) continue;
      ++all;
      deepest = std::max<int>(deepest, tree_[node].depth);
      if (tree_[node].level == Level::kMath) ++math;
    }
    if (lines_.size() >= all) return;
    SmallPrint(fmt::format("{} of {} lines; {}depth {} shows all{}", lines_.size(), all,
                           options_.flag, deepest,
                           math > 0 ? fmt::format(", {} math operations among them", math) : ""));
  }

  const ModelTree& tree_;
  const TreeColumns& columns_;
  const TableLook& look_;
  const Column& main_;
  std::array<const Column*, kPhaseCount> phases_ = {};
  int depth_ = 1'000'000;
  double smallest_share_ = 0;
  int bar_width_ = 0;
  std::vector<TableLine> lines_;
  std::vector<Cell> cells_;
  std::set<std::string> marks_;
};

}  // namespace

std::vector<const Column*> ChosenColumns(const TreeColumns& tree,
                                         const std::vector<std::string>& names) {
  std::vector<const Column*> chosen;
  const auto add = [&](const auto& wanted) {
    for (const Column& column : tree.columns) {
      if (wanted(column)) chosen.push_back(&column);
    }
  };
  if (names.empty()) add([](const Column&) { return true; });
  for (const std::string& name : names) {
    const size_t before = chosen.size();
    add([&](const Column& column) {
      if (column.of == Column::Of::kPhase && name == "phases") return true;
      if (column.of == Column::Of::kChannel && name == "devices") return true;
      if (column.of == Column::Of::kRank && name == "ranks") return true;
      return column.name == name;
    });
    if (chosen.size() > before) continue;
    // Where energy is measured and predicted, no column is just "energy": both are meant.
    add([&](const Column& column) {
      return column.of == Column::Of::kAll && LookOf(column.quantity).name == name;
    });
  }
  return chosen;
}

bool IsUpTo(Level level, const ModelTree& tree, NodeId node) {
  for (NodeId at = node; at < tree[node].end; ++at) {
    if (tree[at].level <= level) return true;
  }
  return false;
}

bool IsShown(const ModelTree& tree, NodeId node, const ViewOptions& options) {
  return (!options.depth || tree[node].depth <= *options.depth) &&
         (!options.level || IsUpTo(*options.level, tree, node));
}

std::string Figure(double value, Quantity quantity) {
  switch (quantity) {
    case Quantity::kEnergy:
      return std::isnan(value) ? "?" : FormatJoules(value);
    case Quantity::kTime:
      return std::isnan(value) ? "?" : FormatSeconds(value);
    case Quantity::kPower:
      return std::isnan(value) ? "?" : FormatWatts(value);
    case Quantity::kRatio:
      return std::isnan(value) ? "-" : FormatFixed(value, 2);
    case Quantity::kOff:
      return std::isfinite(value) ? (value < 0 ? "" : "+") + FormatFixed(100 * value, 2) + " %"
                                  : "-";
    case Quantity::kShare:
      return PercentOrDash(value);
    case Quantity::kBytes:
    case Quantity::kBytesPerSecond:
      return Amount(value, LookOf(quantity).unit);
    case Quantity::kFlops:
    case Quantity::kParameters:
    case Quantity::kCount:
    case Quantity::kFlopsPerSecond:
    case Quantity::kFlopsPerJoule:
    case Quantity::kFlopsPerByte:
      break;
  }
  return Amount(value);  // its unit is at the head of the column
}

std::string OriginText(const Column& column) {
  std::string text(OriginName(column.origin));
  if (!column.by.empty()) text += " by " + column.by;
  return text;
}

std::string TreeTable(const TreeColumns& tree, const TableLook& look, const ViewOptions& options) {
  if (tree.tree.nodes.empty() || tree.columns.empty()) return "";
  return TableMaker(tree, look, options).Write();
}

}  // namespace beryl::views
