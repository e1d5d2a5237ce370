// The positions of the boxes in a diagram.
#pragma once

#include <vector>

#include "types/analysis.h"
#include "views/draw/svg.h"

namespace beryl::views {

inline constexpr double kBoxWidth = 158;
inline constexpr double kBoxHeight = 42;

struct PlacedArrow {
  size_t arrow = 0;           // index into EnergyDiagram::arrows
  std::vector<Point> points;  // of a Bézier line
  bool back = false;          // against the order: a cycle of the program
  bool implied = false;       // there is also a longer path
};

struct DiagramLayout {
  double width = 0;
  double height = 0;
  std::vector<Point> corners;  // by box, the upper left
  std::vector<PlacedArrow> arrows;
};

// With dataflow, boxes are below their inputs, in columns of limited length; without, in the order
// of the program. The layout starts at (0, 0) and is as large as needed.
DiagramLayout LayOut(const EnergyDiagram& diagram);

}  // namespace beryl::views
