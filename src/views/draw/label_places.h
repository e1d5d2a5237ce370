// Places the labels of a scatter plot without overlaps.
#pragma once

#include <vector>

#include "views/draw/svg.h"

namespace beryl::views {

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

struct LabelPlace {
  Box box;
  bool far = false;  // not beside its point: a line should lead to it
};

// For each point, a place within `room` that overlaps neither points nor earlier labels; if there
// is none, the one with the least overlap.
std::vector<LabelPlace> PlaceLabels(const std::vector<Point>& points,
                                    const std::vector<double>& widths, double height,
                                    const std::vector<Box>& obstacles, const Box& room);

}  // namespace beryl::views
