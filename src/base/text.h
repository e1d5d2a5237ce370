// Parses and formats numbers, and makes text fit for a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace beryl {

// A decimal number of microseconds ("1690000000000086", "3937023951673.7", "1.5e6") as nanoseconds,
// exact to the nanosecond unless it has an exponent; smaller fractions are rounded. Nothing if it
// is not a number or outside of +-126 years.
std::optional<Nanos> ParseMicros(std::string_view text);

// A finite number, if all of `text` is one (blanks around it are allowed).
std::optional<double> ParseNumber(std::string_view text);

std::string_view Trim(std::string_view text);
// A to Z in small letters; everything else stays.
std::string LowerCase(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
// "a, b": the names in a list with commas, without blanks around them and without empty ones.
std::vector<std::string> SplitNames(std::string_view list);
bool ContainsWord(std::string_view text, std::string_view lower_case_word);

// The number of letters to insert, delete or change to get from one to the other.
size_t EditDistance(std::string_view a, std::string_view b);

// A name that ends in a number: `layer_3`, `layers.3`, `h.3`, `block3`, `3`. `stem` keeps the
// separator.
struct NumberedName {
  std::string_view stem;
  uint64_t number = 0;
};
std::optional<NumberedName> SplitNumber(std::string_view name);

// Three significant digits and a suitable unit: "12.3 J", "4.56 mJ", "1.20 kJ"; "?" if unknown.
std::string FormatJoules(double joules);
std::string FormatWatts(double watts);
std::string FormatSeconds(double seconds);
std::string FormatJoules(const std::optional<Joules>& energy);
std::string FormatWatts(const std::optional<Watts>& power);
std::string FormatSeconds(const std::optional<Seconds>& time);
std::string FormatBytes(uint64_t bytes);
std::string FormatPercent(double share);
// With that many digits after the point; in any format a number of very many digits has an
// exponent.
std::string FormatFixed(double number, int digits);
// 1234567 as "1,234,567".
std::string FormatCount(uint64_t count);
// Microseconds since the epoch as a date and time in UTC, or as seconds if it is not a plausible
// date.
std::string FormatTime(Nanos time);

// The columns that `text` takes on a terminal. `text` must be valid UTF-8.
size_t DisplayWidth(std::string_view text);
// Shortens in the middle with an ellipsis to at most `width` columns.
std::string Ellipsize(std::string_view text, size_t width);
// Shortens a path from the front, at a "/" if possible: the end of a qualified name says most.
std::string EllipsizePath(std::string_view path, size_t width);
// Length of the valid UTF-8 sequence at the front of `text`, which is not empty; 0 if there is
// none.
size_t Utf8Length(std::string_view text);
// The one place that makes text from outside fit to be shown: valid UTF-8, with control characters
// (C0, C1, those that change the direction of writing) and invalid bytes made visible: `\x1b`,
// `\n`,
// `\u202e`, `\xff`. What is printable already does not change.
std::string Printable(std::string_view text);
// The same for text of several lines: line ends stay.
std::string PrintableLines(std::string_view text);
// The same for a message that may go on in indented lines. No name in it can make a line that looks
// like another message.
std::string PrintableMessage(std::string_view text);

}  // namespace beryl
