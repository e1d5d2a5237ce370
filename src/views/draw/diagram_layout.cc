#include "views/draw/diagram_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace beryl::views {
namespace {

constexpr double kGapX = 22;
constexpr double kGapY = 26;
constexpr double kGapYWithoutArrows = 12;
constexpr size_t kTallest = 14;  // rows of a column
constexpr size_t kTallestWithoutArrows = 8;
constexpr size_t kWidestRow = 4;  // boxes side by side; more continue in another row

class Layout {
 public:
  explicit Layout(const EnergyDiagram& diagram)
      : diagram_(diagram),
        count_(diagram.boxes.size()),
        gap_y_(diagram.arrows.empty() ? kGapYWithoutArrows : kGapY),
        tallest_(diagram.arrows.empty() ? kTallestWithoutArrows : kTallest),
        next_(count_),
        before_(count_) {}

  DiagramLayout Run() {
    result_.corners.resize(count_);
    if (count_ == 0) return std::move(result_);
    BreakCycles();
    Rank();
    MakeRows();
    PlaceRows();
    PlaceArrows();
    return std::move(result_);
  }

 private:
  // Leaves backward arrows out of the order, with as little flow as an easy heuristic finds (after
  // Eades, Lin and Smyth). Boxes without input go first, boxes without output last; of a cycle, the
  // box with the largest output minus input.
  void BreakCycles() {
    const std::vector<DiagramArrow>& arrows = diagram_.arrows;
    std::vector<size_t> place(count_, 0);
    std::vector<bool> placed(count_, false);
    size_t first = 0;
    size_t last = count_;
    while (first < last) {
      std::vector<double> given(count_, 0);
      std::vector<double> taken(count_, 0);
      for (const DiagramArrow& arrow : arrows) {
        if (placed[arrow.from] || placed[arrow.to]) continue;
        given[arrow.from] += static_cast<double>(arrow.count);
        taken[arrow.to] += static_cast<double>(arrow.count);
      }
      size_t best = count_;
      bool at_end = false;
      for (size_t box = 0; box < count_; ++box) {
        if (placed[box]) continue;
        if (given[box] == 0 && taken[box] > 0) {
          best = box;
          at_end = true;
          break;
        }
        if (best == count_ ||
            (taken[best] > 0 &&
             (taken[box] == 0 || given[box] - taken[box] > given[best] - taken[best]))) {
          best = box;
        }
      }
      placed[best] = true;
      place[best] = at_end ? --last : first++;
    }
    for (const DiagramArrow& arrow : arrows) {
      back_.push_back(place[arrow.from] > place[arrow.to]);
      if (back_.back()) continue;
      next_[arrow.from].push_back(arrow.to);
      before_[arrow.to].push_back(arrow.from);
    }
  }

  // The longest path from a box without input. Boxes without arrows have a rank each if there is no
  // dataflow at all; otherwise they are in the first rank.
  void Rank() {
    rank_.assign(count_, 0);
    if (diagram_.arrows.empty()) {
      std::iota(rank_.begin(), rank_.end(), size_t{0});
      return;
    }
    std::vector<size_t> missing(count_);
    std::vector<size_t> ready;
    for (size_t i = 0; i < count_; ++i) {
      missing[i] = before_[i].size();
      if (missing[i] == 0) ready.push_back(i);
    }
    for (size_t i = 0; i < ready.size(); ++i) {
      const size_t at = ready[i];
      order_.push_back(at);
      for (const size_t to : next_[at]) {
        rank_[to] = std::max(rank_[to], rank_[at] + 1);
        if (--missing[to] == 0) ready.push_back(to);
      }
    }
    // A source is placed just above the first box it feeds, not at the top.
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      if (!before_[*at].empty() || next_[*at].empty()) continue;
      size_t first = rank_[next_[*at].front()];
      for (const size_t to : next_[*at]) first = std::min(first, rank_[to]);
      rank_[*at] = first - 1;
    }
  }

  void MakeRows() {
    const size_t ranks = *std::max_element(rank_.begin(), rank_.end()) + 1;
    std::vector<std::vector<size_t>> by_rank(ranks);
    for (size_t i = 0; i < count_; ++i) by_rank[rank_[i]].push_back(i);
    std::vector<double> middle(count_, 0);
    for (auto& boxes : by_rank) {
      // Centred below their inputs, so that fewer arrows cross.
      for (const size_t box : boxes) {
        double sum = 0;
        for (const size_t from : before_[box]) sum += middle[from];
        middle[box] = before_[box].empty() ? 0 : sum / static_cast<double>(before_[box].size());
      }
      std::stable_sort(boxes.begin(), boxes.end(),
                       [&](size_t a, size_t b) { return middle[a] < middle[b]; });
      for (size_t i = 0; i < boxes.size(); ++i) {
        middle[boxes[i]] = static_cast<double>(i) - (static_cast<double>(boxes.size()) - 1) / 2;
        if (i % kWidestRow == 0) rows_.emplace_back();
        rows_.back().push_back(boxes[i]);
      }
    }
  }

  void PlaceRows() {
    const size_t columns = (rows_.size() + tallest_ - 1) / tallest_;
    const size_t height = (rows_.size() + columns - 1) / columns;
    column_of_.assign(count_, 0);
    row_of_.assign(count_, 0);
    double x = 0;
    for (size_t column = 0; column < columns; ++column) {
      const size_t begin = column * height;
      const size_t end = std::min(rows_.size(), begin + height);
      size_t widest = 1;
      for (size_t row = begin; row < end; ++row) widest = std::max(widest, rows_[row].size());
      const double width = static_cast<double>(widest) * (kBoxWidth + kGapX) - kGapX;
      for (size_t row = begin; row < end; ++row) {
        const double used = static_cast<double>(rows_[row].size()) * (kBoxWidth + kGapX) - kGapX;
        for (size_t i = 0; i < rows_[row].size(); ++i) {
          const size_t box = rows_[row][i];
          result_.corners[box] = {
              x + (width - used) / 2 + static_cast<double>(i) * (kBoxWidth + kGapX),
              static_cast<double>(row - begin) * (kBoxHeight + gap_y_)};
          column_of_[box] = column;
          row_of_[box] = row;
        }
      }
      x += width + 2.4 * kGapX;
    }
    result_.width = x - 2.4 * kGapX;
    result_.height =
        static_cast<double>(std::min(height, rows_.size())) * (kBoxHeight + gap_y_) - gap_y_;
  }

  // Whether `to` can be reached from `from` by another path than this arrow.
  bool IsImplied(size_t from, size_t to) const {
    std::vector<bool> seen(count_, false);
    std::vector<size_t> stack;
    for (const size_t step : next_[from]) {
      if (step != to) stack.push_back(step);
    }
    while (!stack.empty()) {
      const size_t at = stack.back();
      stack.pop_back();
      if (at == to) return true;
      if (seen[at] || rank_[at] >= rank_[to]) continue;
      seen[at] = true;
      stack.insert(stack.end(), next_[at].begin(), next_[at].end());
    }
    return false;
  }

  void PlaceArrows() {
    for (size_t i = 0; i < diagram_.arrows.size(); ++i) {
      const DiagramArrow& arrow = diagram_.arrows[i];
      const Point from = result_.corners[arrow.from];
      const Point to = result_.corners[arrow.to];
      PlacedArrow placed;
      placed.arrow = i;
      placed.back = back_[i];
      placed.implied = !back_[i] && IsImplied(arrow.from, arrow.to);
      const double middle = kBoxWidth / 2;
      const bool same_column = column_of_[arrow.from] == column_of_[arrow.to];
      if (!same_column) {
        // From side to side.
        const bool right = column_of_[arrow.to] > column_of_[arrow.from];
        const Point start{from.x + (right ? kBoxWidth : 0), from.y + kBoxHeight / 2};
        const Point end{to.x + (right ? 0 : kBoxWidth), to.y + kBoxHeight / 2};
        const double bend = (right ? 1 : -1) * (kGapX + std::fabs(end.x - start.x) * 0.3);
        placed.points = {start, {start.x + bend, start.y}, {end.x - bend, end.y}, end};
      } else if (row_of_[arrow.to] == row_of_[arrow.from] + 1) {
        const Point start{from.x + middle, from.y + kBoxHeight};
        const Point end{to.x + middle, to.y};
        const double bend = (end.y - start.y) / 2;
        placed.points = {start, {start.x, start.y + bend}, {end.x, end.y - bend}, end};
      } else {
        // Around the boxes in between.
        const double rows = std::fabs(to.y - from.y) / (kBoxHeight + gap_y_);
        const bool left = back_[i];
        const double side = left ? 0 : kBoxWidth;
        const double bend = (left ? -1 : 1) * std::min(kGapX * 2.0, 12 + 7 * rows);
        const Point start{from.x + side, from.y + kBoxHeight * 0.65};
        const Point end{to.x + side, to.y + kBoxHeight * 0.35};
        placed.points = {start, {start.x + bend, start.y}, {end.x + bend, end.y}, end};
      }
      result_.arrows.push_back(std::move(placed));
    }
  }

  const EnergyDiagram& diagram_;
  size_t count_;
  double gap_y_;
  size_t tallest_;
  std::vector<std::vector<size_t>> next_;
  std::vector<std::vector<size_t>> before_;
  std::vector<bool> back_;
  std::vector<size_t> rank_;
  std::vector<size_t> order_;
  std::vector<std::vector<size_t>> rows_;
  std::vector<size_t> column_of_;
  std::vector<size_t> row_of_;
  DiagramLayout result_;
};

}  // namespace

DiagramLayout LayOut(const EnergyDiagram& diagram) { return Layout(diagram).Run(); }

}  // namespace beryl::views
