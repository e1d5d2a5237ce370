// A small SVG canvas. Text stays text, every colour follows the reader's light or dark theme (also
// when the picture is opened alone or embedded with <img>), nothing runs and nothing is loaded.
//
// Colours become classes with a plain light value and a dark one in a media query, so that readers
// that know no media queries (converters, older viewers) show the light picture.
//
// Coordinates are CSS pixels, y grows downwards.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/provenance.h"
#include "views/draw/color.h"

namespace beryl::views {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Anchor { kStart, kMiddle, kEnd };

// Every member has an initializer, so that a style is written with those that matter.
struct TextStyle {
  double size = 12;
  Color color = kInk;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  bool sideways = false;            // bottom to top
  std::optional<double> room = {};  // shortened in the middle to fit, with the full text as tooltip
};

struct ShapeStyle {
  std::optional<Color> fill = {};
  std::optional<Color> stroke = {};
  double stroke_width = 1;
  double opacity = 1;
  double radius = 0;             // of a rectangle's corners
  std::string_view dashes = {};  // "2 3"
  std::string tooltip = {};
};

class SvgCanvas {
 public:
  // Title and description are for people who do not see the picture.
  SvgCanvas(std::string title, std::string description);

  void Text(double x, double y, std::string_view text, const TextStyle& style = {});
  void Rectangle(double x, double y, double width, double height, const ShapeStyle& style);
  void Line(Point from, Point to, const ShapeStyle& style);
  void Polyline(const std::vector<Point>& points, const ShapeStyle& style);
  void Polygon(const std::vector<Point>& points, const ShapeStyle& style);
  // A smooth line through the control points of cubic Bézier pieces (3n + 1 of them) with an
  // arrowhead at its end.
  void Arrow(const std::vector<Point>& points, const ShapeStyle& style);
  // Everything drawn until EndGroup has this tooltip.
  void BeginGroup(std::string_view tooltip);
  void EndGroup();

  // Returns the picture, with its provenance as metadata and what is missing of its input above it,
  // and empties the canvas.
  std::string Take(double width, double height, const Provenance& provenance);

 private:
  std::string Class(char property, Color color);
  std::string Paint(const ShapeStyle& style);
  void Through(std::string_view name, const std::vector<Point>& points, const ShapeStyle& style);
  void Element(std::string_view name, std::string_view attributes, std::string_view tooltip);

  std::string title_;
  std::string description_;
  std::map<std::pair<char, Color>, size_t> classes_;
  std::string body_;
};

// Escapes any text for XML: valid UTF-8 without control characters.
std::string EscapeXml(std::string_view text);

// The approximate width of text in pixels in common fonts, rather too large than too small.
double TextWidth(std::string_view text, double size, bool bold = false);
// Shortens in the middle with an ellipsis to at most `room` pixels.
std::string EllipsizeToWidth(std::string_view text, double room, double size, bool bold = false);
// Shortens a path at the front if possible, because its end matters most.
std::string EllipsizePathToWidth(std::string_view path, double room, double size);

}  // namespace beryl::views
