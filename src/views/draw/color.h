// Colours for pictures, each a pair: for a light and a dark page.
#pragma once

#include <cstddef>
#include <cstdint>

#include "types/op_trace.h"

namespace beryl::views {

// 0xRRGGBB on a light and on a dark page.
struct Color {
  uint32_t light = 0;
  uint32_t dark = 0;

  auto operator<=>(const Color&) const = default;
};

inline constexpr Color kPage{0xFFFFFF, 0x151D1A};
inline constexpr Color kInk{0x15211C, 0xE4EEEA};
inline constexpr Color kDim{0x586860, 0x94A69E};
inline constexpr Color kGrid{0xDBE4DF, 0x29362F};
inline constexpr Color kOther{0xB4BFBA, 0x55625C};  // shown, but not the subject
inline constexpr Color kAccent{0x047857, 0x3DDBA2};
inline constexpr Color kWarning{0x7A4B00, 0xF3D48A};

Color PhaseColor(Phase phase);

// From nearly the page colour (0) to vivid (1), in perceptually even steps. Values outside are
// clamped; NaN is 0.
Color ShareColor(double share);
// From blue (-1, less) over nearly the page colour (0) to red (1, more).
Color DifferenceColor(double value);
// A colour for the index-th of `count` unordered categories. A few are distinguishable without
// colour vision; many go around the hues.
Color CategoryColor(size_t index, size_t count);

// The text colour on `background`: black or white, whichever has more contrast.
Color TextColorOn(Color background);
// The contrast of two colours as WCAG defines it, 1 to 21.
double Contrast(uint32_t a, uint32_t b);

}  // namespace beryl::views
