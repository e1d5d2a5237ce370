// Where the boxes of a diagram stand.
#pragma once

#include <vector>

#include "types/analysis.h"
#include "views/svg.h"

namespace beryl::views {

inline constexpr double kBoxWidth = 158;
inline constexpr double kBoxHeight = 42;

struct PlacedArrow {
  size_t arrow = 0;           // index into EnergyDiagram::arrows
  std::vector<Point> points;  // of a Bézier line
  bool back = false;          // against the order: a cycle of the program
  bool implied = false;       // there is a longer way too
};

struct DiagramLayout {
  double width = 0;
  double height = 0;
  std::vector<Point> corners;  // by box, the upper left
  std::vector<PlacedArrow> arrows;
};

// With dataflow, boxes stand below what feeds them, in columns of a handy length; without, in the
// order of the program. As large as it has to be, at (0, 0).
DiagramLayout LayOut(const EnergyDiagram& diagram);

}  // namespace beryl::views
