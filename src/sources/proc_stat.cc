#include "sources/proc_stat.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "sources/machine_files.h"

namespace beryl::sources {
namespace {

constexpr size_t kMostCpus = 8192;
constexpr size_t kBytesACpu = 256;  // ten numbers of up to 20 digits
constexpr size_t kIdle = 3;
constexpr size_t kWaiting = 4;
constexpr size_t kSteal = 7;  // guest times that follow are in user and nice already

// The numbers of a line into busy and idle; false: there are fewer than four.
bool ParseTicks(std::string_view numbers, CpuTicks& ticks) {
  CpuTicks read;
  size_t column = 0;
  const char* at = numbers.data();
  const char* const end = at + numbers.size();
  for (; column <= kSteal; ++column) {
    while (at < end && *at == ' ') ++at;
    uint64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) break;
    at = next;
    (column == kIdle || column == kWaiting ? read.idle : read.busy) += value;
  }
  if (column <= kIdle) return false;
  ticks = read;
  return true;
}

}  // namespace

bool ParseProcStat(std::string_view text, CpuTicks& all, std::span<CpuTicks> out) {
  bool any = false;
  while (text.starts_with("cpu")) {
    const size_t end = text.find('\n');
    // A last line without its end was cut off.
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(3, end - 3);
    text.remove_prefix(end + 1);
    if (line.starts_with(' ')) {
      any = ParseTicks(line, all) || any;
      continue;
    }
    size_t cpu = 0;
    const auto [next, error] = std::from_chars(line.data(), line.data() + line.size(), cpu);
    if (error != std::errc() || cpu >= out.size()) continue;
    line.remove_prefix(static_cast<size_t>(next - line.data()));
    any = ParseTicks(line, out[cpu]) || any;
  }
  return any;
}

ProcStat::ProcStat(const std::string& procfs, size_t cpus)
    : fd_(::open((procfs + "/stat").c_str(), O_RDONLY | O_CLOEXEC)),
      cpus_(cpus),
      buffer_((cpus + 2) * kBytesACpu) {}

ProcStat::~ProcStat() {
  if (fd_ >= 0) ::close(fd_);
}

bool ProcStat::Read() {
  const ssize_t got = ::pread(fd_, buffer_.data(), buffer_.size(), 0);
  if (got <= 0) return false;
  return ParseProcStat({buffer_.data(), static_cast<size_t>(got)}, all_, cpus_);
}

std::vector<uint32_t> PackagesOfCpus(const std::string& sysfs, const std::string& procfs) {
  // CPUs that are off have no line; how many there may be is not known before.
  ProcStat stat(procfs, kMostCpus);
  if (!stat.Read()) return {};
  size_t cpus = 0;
  for (size_t cpu = 0; cpu < stat.cpus().size(); ++cpu) {
    if (stat.cpus()[cpu].busy + stat.cpus()[cpu].idle > 0) cpus = cpu + 1;
  }
  std::vector<uint32_t> packages(std::max<size_t>(1, cpus));
  for (size_t cpu = 0; cpu < packages.size(); ++cpu) {
    const auto package = ReadCount(
        fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", sysfs, cpu));
    packages[cpu] = package && *package < kMostCpus ? static_cast<uint32_t>(*package) : 0;
  }
  return packages;
}

}  // namespace beryl::sources
