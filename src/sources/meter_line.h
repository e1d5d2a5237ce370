// Lines that an external meter prints, and the patterns that describe them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace beryl::sources {

// What a field of a line contains.
enum class MeterField : uint8_t { kSkipped, kVolts, kAmperes, kWatts, kJoules, kSeconds };

// A pattern such as "{V} {A}", "V:{V} I:{mA}", "{ms},{W}". Units in braces match numbers, {*}
// matches anything up to what follows, a blank matches any number of blanks or tabs (including
// none), and everything else matches itself. Units: V mV A mA W mW kW J kJ Wh kWh ms s. Or
// "emonpi": the output of an emonPi, frames "OK 5 39 0 0 0 39 0 139 90 ..." of bytes, from which
// the power of both sensors is read.
class MeterFormat {
 public:
  // An Error if braces do not close, a unit is unknown, or the pattern has neither power (W, or V
  // and A) nor energy (J, Wh).
  static Result<MeterFormat> Parse(std::string_view format);

  // The value of a line; is_energy() tells which. Nothing if the line does not match or the value
  // is negative. Allocates nothing.
  std::optional<double> ReadLine(std::string_view line) const;

  bool is_energy() const { return is_energy_; }

 private:
  struct Part {
    std::string text;  // before the field
    MeterField field = MeterField::kSkipped;
    double factor = 1;
    bool last_text = false;  // only text, no field: the end of the pattern
  };
  std::vector<Part> parts_;
  bool is_emonpi_ = false;
  bool is_energy_ = false;
};

// "PATH[,baud=N],format=FORMAT"; the format extends to the end.
struct MeterSpec {
  std::string path;
  uint32_t baud = 9600;
  std::string format_text;
  MeterFormat format;
};
Result<MeterSpec> ParseMeterSpec(std::string_view spec);

// Cuts bytes, as they arrive, into lines and keeps the value of the last good one.
class MeterLines {
 public:
  // `midway`: the first bytes may be the rest of a line, so drop them up to its end.
  explicit MeterLines(MeterFormat format, bool midway = false)
      : format_(std::move(format)), dropping_(midway) {
    line_.reserve(kLongest);
  }

  // Allocates nothing.
  void Take(std::string_view bytes);

  std::optional<double> last() const { return last_; }  // watts or joules
  uint64_t good() const { return good_; }
  uint64_t bad() const { return bad_; }  // lines that could not be read, or were too long

  static constexpr size_t kLongest = 1024;

 private:
  void EndLine();

  MeterFormat format_;
  std::string line_;
  bool dropping_;
  bool too_long_ = false;
  std::optional<double> last_;
  uint64_t good_ = 0;
  uint64_t bad_ = 0;
};

}  // namespace beryl::sources
