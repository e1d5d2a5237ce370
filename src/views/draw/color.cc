#include "views/draw/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace beryl::views {
namespace {

// Lightness, chroma and hue (degrees) in OKLCH, where equal steps look equal.
struct Tone {
  double lightness;
  double chroma;
  double hue;
};

struct Linear {
  double red;
  double green;
  double blue;
};

Linear ToLinear(const Tone& tone) {
  const double angle = tone.hue * std::numbers::pi / 180;
  const double a = tone.chroma * std::cos(angle);
  const double b = tone.chroma * std::sin(angle);
  // Björn Ottosson's OKLab matrices.
  const double l = std::pow(tone.lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(tone.lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(tone.lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool Fits(const Linear& color) {
  constexpr double kDust = 1e-4;
  return std::min({color.red, color.green, color.blue}) >= -kDust &&
         std::max({color.red, color.green, color.blue}) <= 1 + kDust;
}

uint32_t Byte(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint32_t>(std::lround(encoded * 255));
}

// Colours outside the screen's gamut lose chroma, not lightness, because lightness shows the order.
uint32_t ToRgb(Tone tone) {
  Linear color = ToLinear(tone);
  while (!Fits(color) && tone.chroma > 0) {
    tone.chroma = std::max(0.0, tone.chroma - 0.004);
    color = ToLinear(tone);
  }
  return Byte(color.red) << 16 | Byte(color.green) << 8 | Byte(color.blue);
}

Tone Between(const Tone& from, const Tone& to, double along) {
  return {from.lightness + (to.lightness - from.lightness) * along,
          from.chroma + (to.chroma - from.chroma) * along, from.hue + (to.hue - from.hue) * along};
}

// The number of shades is limited to keep the style sheet small.
constexpr double kShades = 32;

double Stepped(double value) { return std::round(value * kShades) / kShades; }

double Luminance(uint32_t rgb) {
  auto linear = [](uint32_t byte) {
    const double x = static_cast<double>(byte & 0xFF) / 255;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
}

}  // namespace

Color PhaseColor(Phase phase) {
  // They differ in lightness as well as hue, and match the report's page.
  static constexpr std::array<Color, kPhaseCount> kColors = {
      {{0x1D5C9F, 0x5E9FE4}, {0xD09A1C, 0xF2D479}, {0xB84A6B, 0xD9648A}}};
  return kColors[static_cast<size_t>(phase)];
}

Color ShareColor(double share) {
  const double along = std::isnan(share) ? 0 : Stepped(std::clamp(share, 0.0, 1.0));
  return {ToRgb(Between({0.975, 0.015, 165}, {0.45, 0.16, 155}, along)),
          ToRgb(Between({0.26, 0.02, 165}, {0.82, 0.19, 158}, along))};
}

Color DifferenceColor(double value) {
  const double along = std::isnan(value) ? 0 : Stepped(std::clamp(value, -1.0, 1.0));
  // Blue and red are distinguishable without red-green vision.
  const double hue = along < 0 ? 255 : 28;
  const double size = std::fabs(along);
  return {ToRgb(Between({0.975, 0.006, hue}, {0.48, 0.17, hue}, size)),
          ToRgb(Between({0.26, 0.01, hue}, {0.75, 0.17, hue}, size))};
}

Color CategoryColor(size_t index, size_t count) {
  // After Okabe and Ito, brightened for a dark page.
  static constexpr std::array<Color, 8> kFew = {{{0xD55E00, 0xF08A3C},
                                                 {0x0072B2, 0x5AA9E6},
                                                 {0x009E73, 0x2FC79A},
                                                 {0xCC79A7, 0xE79CC3},
                                                 {0xB58900, 0xE8C547},
                                                 {0x7A4FC9, 0xB08CF5},
                                                 {0x56A5C9, 0x8AD0F0},
                                                 {0x8C564B, 0xC99A8E}}};
  if (count <= kFew.size()) return kFew[index % kFew.size()];
  const double hue = 360.0 * static_cast<double>(index % count) / static_cast<double>(count) + 40;
  // Neighbours also differ in lightness.
  const double shift = index % 2 == 0 ? 0.06 : -0.06;
  return {ToRgb({0.60 + shift, 0.15, hue}), ToRgb({0.73 + shift, 0.14, hue})};
}

double Contrast(uint32_t a, uint32_t b) {
  const double first = Luminance(a) + 0.05;
  const double second = Luminance(b) + 0.05;
  return std::max(first, second) / std::min(first, second);
}

Color TextColorOn(Color background) {
  // Nearly black: with the softer text colour, the contrast on medium shades would fall below
  // WCAG's 4.5.
  constexpr uint32_t kBlack = 0x010403;
  auto better = [](uint32_t behind) {
    return Contrast(behind, 0xFFFFFF) > Contrast(behind, kBlack) ? uint32_t{0xFFFFFF} : kBlack;
  };
  return {better(background.light), better(background.dark)};
}

}  // namespace beryl::views
