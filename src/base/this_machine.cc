#include "base/this_machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace beryl {

std::string MachineName() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}, {} CPUs", names.sysname, names.release, names.machine,
                     ::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string HostName() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "unknown";
}

std::string TimeNow() {
  constexpr int64_t kYear10000 = 253402300800;
  int64_t seconds = std::time(nullptr);
  if (const char* given = std::getenv("SOURCE_DATE_EPOCH")) {
    const std::string_view text(given);
    int64_t epoch = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && epoch >= 0 && epoch < kYear10000) seconds = epoch;
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace beryl
