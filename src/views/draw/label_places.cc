#include "views/draw/label_places.h"

#include <algorithm>
#include <array>
#include <limits>

namespace beryl::views {
namespace {

double Covered(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

bool IsWithin(const Box& box, const Box& room) {
  return box.left >= room.left && box.right <= room.right && box.top >= room.top &&
         box.bottom <= room.bottom;
}

// The box of a label whose side or corner towards the point is `distance` away in a direction.
Box BoxAt(Point point, Point direction, double distance, double width, double height) {
  const double x = point.x + direction.x * distance;
  const double y = point.y + direction.y * distance;
  const double left = direction.x > 0 ? x : direction.x < 0 ? x - width : x - width / 2;
  const double top = direction.y > 0 ? y : direction.y < 0 ? y - height : y - height / 2;
  return {left, top, left + width, top + height};
}

}  // namespace

std::vector<LabelPlace> PlaceLabels(const std::vector<Point>& points,
                                    const std::vector<double>& widths, double height,
                                    const std::vector<Box>& obstacles, const Box& room) {
  // Beside a point reads best, then above and below.
  static constexpr std::array<Point, 8> kDirections = {
      {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {0.7, -0.7}, {0.7, 0.7}, {-0.7, -0.7}, {-0.7, 0.7}}};
  static constexpr std::array<double, 4> kDistances = {8, 18, 32, 50};
  std::vector<Box> taken = obstacles;
  std::vector<LabelPlace> places;
  for (size_t i = 0; i < points.size(); ++i) {
    LabelPlace best{BoxAt(points[i], kDirections[0], kDistances[0], widths[i], height), false};
    double least = std::numeric_limits<double>::infinity();
    for (const double distance : kDistances) {
      for (const Point& direction : kDirections) {
        const Box box = BoxAt(points[i], direction, distance, widths[i], height);
        if (!IsWithin(box, room)) continue;
        double covered = 0;
        for (const Box& other : taken) covered += Covered(box, other);
        if (covered < least) {
          least = covered;
          best = {box, distance > kDistances[0]};
        }
      }
      if (least == 0) break;
    }
    taken.push_back(best.box);
    places.push_back(best);
  }
  return places;
}

}  // namespace beryl::views
