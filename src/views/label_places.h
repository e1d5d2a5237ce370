// Where the labels of a scatter plot go so that they do not lie on one another.
#pragma once

#include <vector>

#include "views/svg.h"

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

// For each point a place for a label of its width, within `room`, off the points and the labels
// before it; where there is none, the place that covers least.
std::vector<LabelPlace> PlaceLabels(const std::vector<Point>& points,
                                    const std::vector<double>& widths, double height,
                                    const std::vector<Box>& obstacles, const Box& room);

}  // namespace beryl::views
