// Text in and out of numbers, and text made fit for a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace beryl {

// A decimal number of microseconds ("1690000000000086", "3937023951673.7", "1.5e6") as nanoseconds,
// exact to the nanosecond as long as there is no exponent; what is below is rounded. Nothing: not a
// number, or outside of +-126 years.
std::optional<Nanos> ParseMicros(std::string_view text);

// A finite number that is the whole of `text` (blanks around it allowed).
std::optional<double> ParseNumber(std::string_view text);

std::string_view Trim(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
bool ContainsWord(std::string_view text, std::string_view lower_case_word);

// How many letters have to be put in, left out or changed to get from one to the other.
size_t EditDistance(std::string_view a, std::string_view b);

// A name ends in a number: `layer_3`, `layers.3`, `h.3`, `block3`, `3`. `stem` keeps the separator.
struct NumberedName {
  std::string_view stem;
  uint64_t number = 0;
};
std::optional<NumberedName> SplitNumber(std::string_view name);

// Three significant digits and a unit that fits: "12.3 J", "4.56 mJ", "1.20 kJ"; "?":
// not known.
std::string FormatJoules(double joules);
std::string FormatWatts(double watts);
std::string FormatSeconds(double seconds);
std::string FormatJoules(const std::optional<Joules>& energy);
std::string FormatWatts(const std::optional<Watts>& power);
std::string FormatSeconds(const std::optional<Seconds>& time);
std::string FormatBytes(uint64_t bytes);
std::string FormatPercent(double share);
// 1234567 as "1,234,567".
std::string FormatCount(uint64_t count);
// Microseconds since the epoch as a date and time in UTC, or seconds if it is no plausible date.
std::string FormatTime(Nanos time);

// Columns that `text` takes on a terminal. `text` has to be valid UTF-8.
size_t DisplayWidth(std::string_view text);
// Shortens in the middle with an ellipsis to at most `width` columns.
std::string Ellipsize(std::string_view text, size_t width);
// Shortens a path from the front, at a "/" where it can: the end of a qualified name says most.
std::string EllipsizePath(std::string_view path, size_t width);
// Valid UTF-8 without control characters, whatever comes in.
std::string Printable(std::string_view text);

}  // namespace beryl
