#include "sources/meter_line.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/machine_files.h"

namespace beryl::sources {
namespace {

struct UnitOfField {
  std::string_view name;
  MeterField field;
  double factor;
};
constexpr std::array<UnitOfField, 14> kUnits = {{
    {"*", MeterField::kSkipped, 1},
    {"V", MeterField::kVolts, 1},
    {"mV", MeterField::kVolts, 1e-3},
    {"A", MeterField::kAmperes, 1},
    {"mA", MeterField::kAmperes, 1e-3},
    {"W", MeterField::kWatts, 1},
    {"mW", MeterField::kWatts, 1e-3},
    {"kW", MeterField::kWatts, 1e3},
    {"J", MeterField::kJoules, 1},
    {"kJ", MeterField::kJoules, 1e3},
    {"Wh", MeterField::kJoules, 3600},
    {"kWh", MeterField::kJoules, 3.6e6},
    {"ms", MeterField::kSeconds, 1e-3},
    {"s", MeterField::kSeconds, 1},
}};

constexpr double kMostWatts = 1e7;
constexpr double kMostJoules = 1e12;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
}

// Removes `expected` from the front of `line`; a blank matches any number of blanks.
bool TakeText(std::string_view& line, std::string_view expected) {
  for (const char c : expected) {
    if (IsBlank(c)) {
      SkipBlanks(line);
      continue;
    }
    if (line.empty() || line.front() != c) return false;
    line.remove_prefix(1);
  }
  return true;
}

std::optional<double> TakeNumber(std::string_view& line) {
  SkipBlanks(line);
  if (line.starts_with('+')) line.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  return value;
}

// What {*} matches: up to the following text, or to the next blank if there is none.
bool SkipField(std::string_view& line, std::string_view next_text) {
  const size_t first = next_text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    SkipBlanks(line);
    const size_t end = line.find_first_of(" \t");
    line.remove_prefix(std::min(end, line.size()));
    return true;
  }
  const size_t at = line.find(next_text[first]);
  if (at == std::string_view::npos) return false;
  line.remove_prefix(at);
  return true;
}

// A frame of an emonPi: its node, then bytes: power 1, power 2 and their sum as 16-bit
// little-endian numbers. Newer ones have a four-byte message counter before that.
std::optional<double> ReadEmonPi(std::string_view line) {
  SkipBlanks(line);
  if (!line.starts_with("OK ")) return std::nullopt;
  line.remove_prefix(3);
  std::array<int, 11> bytes{};  // node, and the first ten bytes
  size_t count = 0;
  while (count < bytes.size()) {
    SkipBlanks(line);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), bytes[count]);
    if (error != std::errc() || bytes[count] < 0 || bytes[count] > 255) break;
    line.remove_prefix(static_cast<size_t>(end - line.data()));
    ++count;
  }
  const auto number = [&](size_t at) {
    return static_cast<int16_t>(static_cast<uint16_t>(bytes[at] | (bytes[at + 1] << 8)));
  };
  for (const size_t first : {size_t{1}, size_t{5}}) {
    if (first + 6 > count) break;
    const int sum = number(first + 4);
    if (std::abs(number(first) + number(first + 2) - sum) <= 1 && sum >= 0) return sum;
  }
  return std::nullopt;
}

}  // namespace

Result<MeterFormat> MeterFormat::Parse(std::string_view format) {
  const auto wrong = [given = format](const std::string& why) {
    return MisuseError(
        fmt::format("format '{}': {}; expected for example {{V}} {{A}}, or {{ms}},{{W}}, with the "
                    "units V mV A mA W "
                    "mW kW J kJ Wh kWh ms s, and {{*}} for text to skip; or emonpi",
                    Printable(given), why),
        {"meter"});
  };
  MeterFormat result;
  if (format == "emonpi") {
    result.is_emonpi_ = true;
    return result;
  }
  std::array<int, 6> fields{};
  while (!format.empty()) {
    Part part;
    const size_t open = format.find('{');
    part.text = format.substr(0, open);
    if (open == std::string_view::npos) {
      part.last_text = true;
      result.parts_.push_back(std::move(part));
      break;
    }
    const size_t close = format.find('}', open);
    if (close == std::string_view::npos) return wrong("a brace is not closed");
    const std::string_view name = format.substr(open + 1, close - open - 1);
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                   [&](const UnitOfField& known) { return known.name == name; });
    if (unit == kUnits.end()) return wrong(fmt::format("no unit {{{}}}", Printable(name)));
    part.field = unit->field;
    part.factor = unit->factor;
    ++fields[static_cast<size_t>(unit->field)];
    result.parts_.push_back(std::move(part));
    format.remove_prefix(close + 1);
  }
  const auto count = [&](MeterField field) { return fields[static_cast<size_t>(field)]; };
  if (std::any_of(fields.begin() + 1, fields.end(), [](int times) { return times > 1; })) {
    return wrong("one quantity is given twice");
  }
  const bool has_power = count(MeterField::kWatts) == 1 ||
                         (count(MeterField::kVolts) == 1 && count(MeterField::kAmperes) == 1);
  result.is_energy_ = !has_power && count(MeterField::kJoules) == 1;
  if (!has_power && !result.is_energy_) return wrong("it reports neither power nor energy");
  return result;
}

std::optional<double> MeterFormat::ReadLine(std::string_view line) const {
  if (is_emonpi_) return ReadEmonPi(line);
  std::array<double, 6> values;
  values.fill(std::nan(""));
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (!TakeText(line, part.text)) return std::nullopt;
    if (part.last_text) break;
    if (part.field == MeterField::kSkipped) {
      const std::string_view next =
          i + 1 < parts_.size() ? std::string_view(parts_[i + 1].text) : std::string_view();
      if (!SkipField(line, next)) return std::nullopt;
      continue;
    }
    const auto number = TakeNumber(line);
    if (!number) return std::nullopt;
    values[static_cast<size_t>(part.field)] = *number * part.factor;
  }
  const auto value = [&](MeterField field) { return values[static_cast<size_t>(field)]; };
  double told = value(MeterField::kJoules);
  if (!is_energy_) {
    told = value(MeterField::kWatts);
    if (std::isnan(told)) told = value(MeterField::kVolts) * value(MeterField::kAmperes);
  }
  const bool usable = told >= 0 && told <= (is_energy_ ? kMostJoules : kMostWatts);
  return usable ? std::optional(told) : std::nullopt;
}

Result<MeterSpec> ParseMeterSpec(std::string_view spec) {
  const auto wrong = [&](std::string_view why) {
    return MisuseError(fmt::format("meter '{}': {}; expected PATH[,baud=N],format=FORMAT, such as "
                                   "/dev/ttyUSB0,baud=9600,format={{V}} {{A}}",
                                   Printable(spec), why),
                       {"meter"});
  };
  MeterSpec result;
  constexpr std::string_view kFormat = ",format=";
  constexpr std::string_view kBaud = ",baud=";
  const size_t format_at = spec.find(kFormat);
  if (format_at == std::string_view::npos) return wrong("no format=");
  result.format_text = spec.substr(format_at + kFormat.size());
  std::string_view before = spec.substr(0, format_at);
  if (const size_t baud_at = before.rfind(kBaud); baud_at != std::string_view::npos) {
    const auto baud = ParseCount(before.substr(baud_at + kBaud.size()));
    if (!baud || *baud == 0 || *baud > 4'000'000) return wrong("baud= is not a speed");
    result.baud = static_cast<uint32_t>(*baud);
    before = before.substr(0, baud_at);
  }
  result.path = before;
  if (result.path.empty()) return wrong("no path");
  auto format = MeterFormat::Parse(result.format_text);
  if (!format) {
    return MisuseError(fmt::format("meter {}: {}", result.path, format.error().message), {"meter"});
  }
  result.format = *std::move(format);
  return result;
}

void MeterLines::Take(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') {
      if (!dropping_) EndLine();
      dropping_ = false;
    } else if (dropping_) {
      continue;
    } else if (line_.size() < kLongest) {
      line_ += c;
    } else {
      too_long_ = true;
    }
  }
}

void MeterLines::EndLine() {
  if (line_.empty()) return;
  std::optional<double> value;
  if (!too_long_) value = format_.ReadLine(line_);
  if (value) {
    last_ = *value;
    ++good_;
  } else {
    ++bad_;
  }
  line_.clear();
  too_long_ = false;
}

}  // namespace beryl::sources
