#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <numeric>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace beryl {
namespace {

constexpr double kLargestNanos = 4e18;
// From here on a number is written with an exponent: nobody counts its digits.
constexpr double kManyDigits = 1e12;

// Parses eight digits at once; false if one of them is not a digit.
bool EightDigits(const char* p, uint64_t& value) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  constexpr uint64_t kZeros = 0x3030303030303030;
  constexpr uint64_t kHighNibbles = 0xF0F0F0F0F0F0F0F0;
  // Digits are 0x30 to 0x39: the high nibble is 3, also after adding 6.
  if ((word & kHighNibbles) != kZeros || ((word + 0x0606060606060606) & kHighNibbles) != kZeros) {
    return false;
  }
  word -= kZeros;
  word = (word * 10) + (word >> 8);  // pairs
  constexpr uint64_t kMask = 0x000000FF000000FF;
  constexpr uint64_t kFirst = 100 + (1'000'000ULL << 32);
  constexpr uint64_t kSecond = 1 + (10'000ULL << 32);
  value = (((word & kMask) * kFirst) + (((word >> 16) & kMask) * kSecond)) >> 32;
  value &= 0xFFFFFFFF;
  return true;
}

struct Prefix {
  double factor;
  const char* name;
};

// `character` is valid UTF-8 of more than one byte.
uint32_t DecodeUtf8(std::string_view character) {
  uint32_t code = static_cast<unsigned char>(character[0]) & (0xFFU >> (character.size() + 1));
  for (const char c : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

// Controls that a terminal obeys without showing them: C1, line ends of Unicode, and those that
// change the direction of writing, so that a name could look like another.
bool IsUnseen(uint32_t code) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 5> kUnseen = {
      {{0x80, 0x9F}, {0x61C, 0x61C}, {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}}};
  return std::any_of(kUnseen.begin(), kUnseen.end(), [&](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

std::string WithPrefix(double value, const char* unit) {
  static constexpr std::array<Prefix, 7> kPrefixes = {
      {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  if (value == 0) return fmt::format("0 {}", unit);
  if (!std::isfinite(value)) return "?";
  const double magnitude = std::fabs(value);
  const Prefix* chosen = &kPrefixes.back();
  for (const Prefix& prefix : kPrefixes) {
    // 0.9995 would print as 1000 of the next smaller unit.
    if (magnitude >= prefix.factor * 0.9995) {
      chosen = &prefix;
      break;
    }
  }
  const double scaled = value / chosen->factor;
  const double size = std::fabs(scaled);
  if (size >= kManyDigits) return fmt::format("{:.2e} {}", value, unit);
  if (size < 0.005) return fmt::format("<0.01 {}{}", chosen->name, unit);
  const int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", scaled, digits, chosen->name, unit);
}

}  // namespace

std::optional<Nanos> ParseMicros(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  if (p == end) return std::nullopt;
  uint64_t whole = 0;
  const char* start = p;
  for (uint64_t eight = 0; end - p >= 8 && EightDigits(p, eight); p += 8) {
    whole = whole * 100'000'000 + eight;
  }
  for (; p != end && *p >= '0' && *p <= '9'; ++p)
    whole = whole * 10 + static_cast<uint64_t>(*p - '0');
  // Sixteen digits are 317 years; more would not fit either.
  if (p == start || p - start > 16) return std::nullopt;
  uint64_t nanos = whole * 1000;
  if (p != end && *p == '.') {
    ++p;
    uint64_t unit = 100;
    for (; unit != 0 && p != end && *p >= '0' && *p <= '9'; ++p, unit /= 10) {
      nanos += unit * static_cast<uint64_t>(*p - '0');
    }
    // Differences of binary fractions come as 118.41699999999992.
    if (unit == 0 && p != end && *p >= '5' && *p <= '9') ++nanos;
    while (p != end && *p >= '0' && *p <= '9') ++p;
  }
  if (p != end) {
    const auto number = ParseNumber(text);
    if (!number || std::fabs(*number * 1e3) > kLargestNanos) return std::nullopt;
    return Nanos{std::llround(*number * 1e3)};
  }
  if (nanos > static_cast<uint64_t>(kLargestNanos)) return std::nullopt;
  const auto value = static_cast<int64_t>(nanos);
  return Nanos{negative ? -value : value};
}

std::optional<double> ParseNumber(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string_view Trim(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return lower;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string> SplitNames(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(list, ',')) {
    if (!Trim(name).empty()) names.emplace_back(Trim(name));
  }
  return names;
}

bool ContainsWord(std::string_view text, std::string_view lower_case_word) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  auto letter = [&](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
  for (size_t at = 0; at + lower_case_word.size() <= text.size(); ++at) {
    const std::string_view here = text.substr(at, lower_case_word.size());
    if (!std::equal(here.begin(), here.end(), lower_case_word.begin(),
                    [&](char a, char b) { return lower(a) == b; })) {
      continue;
    }
    const size_t after = at + lower_case_word.size();
    if ((at == 0 || !letter(text[at - 1])) && (after == text.size() || !letter(text[after]))) {
      return true;
    }
  }
  return false;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::optional<NumberedName> SplitNumber(std::string_view name) {
  size_t start = name.size();
  while (start > 0 && name[start - 1] >= '0' && name[start - 1] <= '9') --start;
  if (start == name.size() || name.size() - start > 9) return std::nullopt;
  NumberedName result{name.substr(0, start), 0};
  std::from_chars(name.data() + start, name.data() + name.size(), result.number);
  return result;
}

std::string FormatJoules(double joules) { return WithPrefix(joules, "J"); }
std::string FormatWatts(double watts) { return WithPrefix(watts, "W"); }
std::string FormatSeconds(double seconds) { return WithPrefix(seconds, "s"); }
std::string FormatJoules(const std::optional<Joules>& energy) {
  return FormatJoules(ValueOrNan(energy));
}
std::string FormatWatts(const std::optional<Watts>& power) {
  return FormatWatts(ValueOrNan(power));
}
std::string FormatSeconds(const std::optional<Seconds>& time) {
  return FormatSeconds(ValueOrNan(time));
}
std::string FormatBytes(uint64_t bytes) { return WithPrefix(static_cast<double>(bytes), "B"); }

std::string FormatPercent(double share) {
  if (!std::isfinite(share)) return "?";
  const double percent = share * 100;
  if (percent != 0 && std::fabs(percent) < 0.05) return percent > 0 ? "<0.1%" : ">-0.1%";
  return FormatFixed(percent, 1) + "%";
}

std::string FormatFixed(double number, int digits) {
  return std::fabs(number) >= kManyDigits ? fmt::format("{:.3g}", number)
                                          : fmt::format("{:.{}f}", number, digits);
}

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string FormatTime(Nanos time) {
  constexpr int64_t kYear2000 = 946684800;
  constexpr int64_t kYear2100 = 4102444800;
  const int64_t seconds = time.value / 1'000'000'000;
  const int64_t nanos = time.value % 1'000'000'000;
  if (seconds < kYear2000 || seconds > kYear2100) return fmt::format("{:.6f} s", time.seconds());
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06d} UTC",
                     fmt::gmtime(static_cast<std::time_t>(seconds)), nanos / 1000);
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Ellipsize(std::string_view text, size_t width) {
  const size_t columns = DisplayWidth(text);
  if (columns <= width) return std::string(text);
  if (width == 0) return "";
  const size_t head = (width - 1) / 2;
  const size_t tail = width - 1 - head;
  std::string result;
  size_t column = 0;
  bool cut = false;
  for (size_t at = 0; at < text.size();) {
    size_t next = at + 1;
    while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80) ++next;
    if (column < head || column >= columns - tail) {
      result.append(text.substr(at, next - at));
    } else if (!cut) {
      result += "…";
      cut = true;
    }
    ++column;
    at = next;
  }
  return result;
}

std::string EllipsizePath(std::string_view path, size_t width) {
  if (DisplayWidth(path) <= width) return std::string(path);
  for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
    const std::string_view tail = path.substr(at);
    if (DisplayWidth(tail) < width) return "…" + std::string(tail);
  }
  const size_t slash = path.rfind('/');
  return Ellipsize(slash == std::string_view::npos ? path : path.substr(slash + 1), width);
}

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

std::string Printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    const uint32_t code = length < 2 ? byte : DecodeUtf8(text.substr(at, length));
    if (code == '\n' || code == '\t' || code == '\r') {
      result += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else if (length == 0 || code < ' ' || code == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else if (IsUnseen(code)) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result.append(text, at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return result;
}

std::string PrintableLines(std::string_view text) {
  std::string result;
  for (const std::string_view line : Split(text, '\n')) result.append(Printable(line)) += '\n';
  result.pop_back();
  return result;
}

std::string PrintableMessage(std::string_view text) {
  constexpr std::string_view kGoesOn = "\n  ";
  std::string message;
  for (;;) {
    const size_t end = text.find(kGoesOn);
    message += Printable(text.substr(0, end));
    if (end == std::string_view::npos) return message;
    message += kGoesOn;
    text.remove_prefix(end + kGoesOn.size());
  }
}

}  // namespace beryl
