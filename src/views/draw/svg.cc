#include "views/draw/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "views/text/notes.h"

namespace beryl::views {
namespace {

constexpr const char* kFonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif";

// Two decimals are finer than any screen, and keep the file small.
std::string Short(double value) {
  std::string text = fmt::format("{:.2f}", std::isfinite(value) ? value : 0);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string PointList(const std::vector<Point>& points) {
  std::string text;
  for (const Point& point : points) {
    text += text.empty() ? "" : " ";
    text += Short(point.x) + "," + Short(point.y);
  }
  return text;
}

// The width of one character, as a share of the font size.
double CharacterWidth(uint32_t code) {
  if (code >= 0x1100 && (code <= 0x115F || (code >= 0x2E80 && code <= 0xFFDC) || code >= 0x1F300)) {
    return 1.1;  // wide letters and pictures
  }
  if (code >= 0x80) return 0.65;
  constexpr std::string_view kNarrow = "iljt|!.,:;'`f()[]{}/\\ r-I";
  constexpr std::string_view kWide = "mwMW@%";
  const char c = static_cast<char>(code);
  if (kWide.find(c) != std::string_view::npos) return 0.97;
  if (kNarrow.find(c) != std::string_view::npos) return 0.38;
  if (c >= 'A' && c <= 'Z') return 0.70;
  return 0.60;
}

// Calls visit(code point, its bytes) for each character of valid UTF-8.
template <typename Visit>
void ForEachCharacter(std::string_view text, Visit&& visit) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    const std::string_view bytes = text.substr(at, length);
    for (const char c : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
    visit(code, bytes);
    at += bytes.size();
  }
}

double CleanWidth(std::string_view clean, double size, bool bold) {
  double width = 0;
  ForEachCharacter(clean, [&](uint32_t code, std::string_view) { width += CharacterWidth(code); });
  return width * size * (bold ? 1.08 : 1);
}

std::string Hex(uint32_t rgb) { return fmt::format("#{:06x}", rgb); }

}  // namespace

std::string EscapeXml(std::string_view text) {
  // The last two are valid UTF-8 and not allowed in XML.
  static constexpr std::array<std::pair<uint32_t, std::string_view>, 7> kEscapes = {
      {{'\n', " "},
       {'&', "&amp;"},
       {'<', "&lt;"},
       {'>', "&gt;"},
       {'"', "&quot;"},
       {0xFFFE, "?"},
       {0xFFFF, "?"}}};
  std::string result;
  ForEachCharacter(PrintableLines(text), [&](uint32_t code, std::string_view bytes) {
    const auto* escape = std::find_if(kEscapes.begin(), kEscapes.end(),
                                      [&](const auto& known) { return known.first == code; });
    result += escape == kEscapes.end() ? bytes : escape->second;
  });
  return result;
}

double TextWidth(std::string_view text, double size, bool bold) {
  return CleanWidth(Printable(text), size, bold);
}

std::string EllipsizeToWidth(std::string_view text, double room, double size, bool bold) {
  std::string clean = Printable(text);
  const double width = CleanWidth(clean, size, bold);
  if (width <= room) return clean;
  size_t columns = DisplayWidth(clean);
  // From the average width of its characters, then letter by letter.
  columns = std::min(columns, static_cast<size_t>(std::max(
                                  1.0, 1.2 * room / width * static_cast<double>(columns) + 2)));
  std::string shortened = Ellipsize(clean, columns);
  while (columns > 1 && CleanWidth(shortened, size, bold) > room) {
    shortened = Ellipsize(clean, --columns);
  }
  return shortened;
}

std::string EllipsizePathToWidth(std::string_view path, double room, double size) {
  std::string clean = Printable(path);
  if (CleanWidth(clean, size, false) <= room) return clean;
  for (size_t at = clean.find('/'); at != std::string::npos; at = clean.find('/', at + 1)) {
    std::string tail = "…" + clean.substr(at);
    if (CleanWidth(tail, size, false) <= room) return tail;
  }
  return EllipsizeToWidth(clean.substr(clean.rfind('/') + 1), room, size);
}

SvgCanvas::SvgCanvas(std::string title, std::string description)
    : title_(std::move(title)), description_(std::move(description)) {}

std::string SvgCanvas::Class(char property, Color color) {
  const auto [place, is_new] = classes_.try_emplace({property, color}, classes_.size());
  return fmt::format("{}{}", property, place->second);
}

std::string SvgCanvas::Paint(const ShapeStyle& style) {
  std::string classes = style.fill ? Class('f', *style.fill) : "";
  if (style.stroke) classes += (classes.empty() ? "" : " ") + Class('s', *style.stroke);
  std::string text = classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
  if (!style.fill) text += " fill=\"none\"";
  if (style.stroke && style.stroke_width != 1) {
    text += fmt::format(" stroke-width=\"{}\"", Short(style.stroke_width));
  }
  if (!style.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  if (style.opacity < 1) text += fmt::format(" opacity=\"{}\"", Short(style.opacity));
  return text;
}

void SvgCanvas::Element(std::string_view name, std::string_view attributes,
                        std::string_view tooltip) {
  if (tooltip.empty()) {
    body_ += fmt::format("<{}{}/>\n", name, attributes);
  } else {
    body_ +=
        fmt::format("<{0}{1}><title>{2}</title></{0}>\n", name, attributes, EscapeXml(tooltip));
  }
}

void SvgCanvas::Text(double x, double y, std::string_view text, const TextStyle& style) {
  const std::string shown =
      style.room ? EllipsizeToWidth(text, *style.room, style.size, style.bold) : Printable(text);
  std::string attributes =
      fmt::format(" x=\"{}\" y=\"{}\" class=\"{}\"", Short(x), Short(y), Class('f', style.color));
  if (style.size != 12) attributes += fmt::format(" font-size=\"{}\"", Short(style.size));
  if (style.anchor != Anchor::kStart) {
    attributes +=
        style.anchor == Anchor::kMiddle ? " text-anchor=\"middle\"" : " text-anchor=\"end\"";
  }
  if (style.bold) attributes += " font-weight=\"600\"";
  if (style.sideways) {
    attributes += fmt::format(" transform=\"rotate(-90 {} {})\"", Short(x), Short(y));
  }
  const std::string tooltip =
      shown == Printable(text) ? "" : fmt::format("<title>{}</title>", EscapeXml(text));
  body_ += fmt::format("<text{}>{}{}</text>\n", attributes, tooltip, EscapeXml(shown));
}

void SvgCanvas::Rectangle(double x, double y, double width, double height,
                          const ShapeStyle& style) {
  std::string attributes =
      fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", Short(x), Short(y),
                  Short(std::max(0.0, width)), Short(std::max(0.0, height)));
  if (style.radius > 0) attributes += fmt::format(" rx=\"{}\"", Short(style.radius));
  Element("rect", attributes + Paint(style), style.tooltip);
}

void SvgCanvas::Line(Point from, Point to, const ShapeStyle& style) {
  Element("path",
          fmt::format(" d=\"M{},{}L{},{}\"{}", Short(from.x), Short(from.y), Short(to.x),
                      Short(to.y), Paint(style)),
          style.tooltip);
}

void SvgCanvas::Polyline(const std::vector<Point>& points, const ShapeStyle& style) {
  if (points.size() > 1) Through("polyline", points, style);
}

void SvgCanvas::Polygon(const std::vector<Point>& points, const ShapeStyle& style) {
  if (points.size() > 2) Through("polygon", points, style);
}

void SvgCanvas::Through(std::string_view name, const std::vector<Point>& points,
                        const ShapeStyle& style) {
  Element(name, fmt::format(" points=\"{}\"{}", PointList(points), Paint(style)), style.tooltip);
}

void SvgCanvas::Arrow(const std::vector<Point>& points, const ShapeStyle& style) {
  if (points.size() < 4) return;
  constexpr double kHead = 7;
  const Point tip = points.back();
  const Point before = points[points.size() - 2];
  const double length = std::hypot(tip.x - before.x, tip.y - before.y);
  const Point along =
      length > 0 ? Point{(tip.x - before.x) / length, (tip.y - before.y) / length} : Point{0, 1};
  std::string path = fmt::format("M{},{}C", Short(points[0].x), Short(points[0].y));
  std::vector<Point> rest(points.begin() + 1, points.end());
  // The line ends inside the head, so that it does not show beside the tip.
  rest.back() = {tip.x - along.x * kHead * 0.6, tip.y - along.y * kHead * 0.6};
  path += PointList(rest);
  ShapeStyle line = style;
  line.fill.reset();
  Element("path", fmt::format(" d=\"{}\"{}", path, Paint(line)), style.tooltip);
  ShapeStyle head;
  head.fill = style.stroke;
  head.opacity = style.opacity;
  const Point back{tip.x - along.x * kHead, tip.y - along.y * kHead};
  const Point across{-along.y * kHead * 0.42, along.x * kHead * 0.42};
  Polygon({tip, {back.x + across.x, back.y + across.y}, {back.x - across.x, back.y - across.y}},
          head);
}

void SvgCanvas::BeginGroup(std::string_view tooltip) {
  body_ += "<g>";
  if (!tooltip.empty()) body_ += fmt::format("<title>{}</title>", EscapeXml(tooltip));
  body_ += '\n';
}

void SvgCanvas::EndGroup() { body_ += "</g>\n"; }

std::string SvgCanvas::Take(double width, double height, const Provenance& provenance) {
  // What is missing stands above the picture, which moves down for it.
  constexpr double kBannerLine = 17;
  const std::vector<std::string> missing = IncompleteTexts(provenance);
  const double banner = missing.empty() ? 0 : kBannerLine * static_cast<double>(missing.size()) + 8;
  for (size_t i = 0; i < missing.size(); ++i) {
    Text(12, kBannerLine * static_cast<double>(i + 1) - banner, missing[i],
         {.color = kWarning, .bold = true, .room = width - 24});
  }
  const std::string page = Class('f', kPage);
  std::string light = fmt::format("text{{font-family:{};white-space:pre}}\n", kFonts);
  std::string dark;
  for (const auto& [key, number] : classes_) {
    const char* property = key.first == 'f' ? "fill" : "stroke";
    light += fmt::format(".{}{}{{{}:{}}}\n", key.first, number, property, Hex(key.second.light));
    dark += fmt::format(".{}{}{{{}:{}}}\n", key.first, number, property, Hex(key.second.dark));
  }
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 {9} {0} "
      "{1}\" font-size=\"12\" role=\"img\" aria-labelledby=\"title desc\">\n"
      "<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n<metadata>{8}</metadata>\n"
      "<style>\n{4}@media (prefers-color-scheme:dark){{\n{5}}}\n</style>\n"
      "<rect {10}width=\"{0}\" height=\"{1}\" class=\"{6}\"/>\n{7}</svg>\n",
      Short(std::ceil(width)), Short(std::ceil(height + banner)), EscapeXml(title_),
      EscapeXml(description_), light, dark, page, body_, EscapeXml(StampLine(provenance)),
      Short(-banner), banner > 0 ? fmt::format("y=\"{}\" ", Short(-banner)) : "");
  body_.clear();
  classes_.clear();
  return text;
}

}  // namespace beryl::views
