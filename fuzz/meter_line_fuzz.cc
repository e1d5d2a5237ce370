// Lines of external meters, and the numbers of /proc and /sys. The first line is the pattern.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "require.h"
#include "sources/cpu_times.h"
#include "sources/machine_features.h"
#include "sources/machine_files.h"
#include "sources/meter_line.h"
#include "sources/proc_file.h"

namespace {

using beryl::fuzz::Require;

void ReadMeter(std::string_view format_text, std::string_view bytes) {
  using beryl::sources::MeterLines;
  auto format = beryl::sources::MeterFormat::Parse(format_text);
  if (!format) {
    Require(!format.error().message.empty(), "an error says what went wrong");
    return;
  }
  MeterLines whole(*format);
  whole.Take(bytes);
  MeterLines pieces(*format);
  for (size_t i = 0; i < bytes.size(); ++i) pieces.Take(bytes.substr(i, 1));
  Require(
      whole.good() == pieces.good() && whole.bad() == pieces.bad() && whole.last() == pieces.last(),
      "where bytes are broken makes no difference");
  Require(whole.last().has_value() == (whole.good() > 0), "a value comes from a line");
  if (whole.last()) {
    Require(std::isfinite(*whole.last()) && *whole.last() >= 0, "values are usable");
  }
}

void ReadProc(std::string_view text) {
  beryl::sources::CpuJiffies cpu;
  beryl::sources::ParseCpuLine(text, cpu);
  const auto stat = beryl::sources::ParseStatLine(text);
  Require(!stat.ok || !text.empty(), "a process's line is one");
  beryl::sources::ParseSchedstat(text);
  const double used = beryl::sources::MemoryUsagePercent(text);
  Require(std::isnan(used) || (used >= 0 && used <= 100), "a share is one");
  beryl::sources::ParseCount(text);
  Require(beryl::sources::ParseList(text).size() <= 65536, "a list has an end");
  const auto spec = beryl::sources::ParseMeterSpec(text);
  Require(!spec || !spec->path.empty(), "a meter has a path");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const size_t end = text.find('\n');
  ReadMeter(text.substr(0, end), end == std::string_view::npos ? "" : text.substr(end + 1));
  ReadMeter("{V} {A}", text);
  ReadMeter("emonpi", text);
  ReadProc(text);
  return 0;
}
