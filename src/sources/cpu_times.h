// How busy every CPU is, from /proc/stat, and its package.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sources/machine.h"
#include "sources/proc_file.h"
#include "sources/processes.h"

namespace beryl::sources {

// The package of each CPU by its number, from sysfs; 0 if sysfs does not tell.
std::vector<uint16_t> CpuPackages(const Machine& machine);

class CpuTimes {
 public:
  explicit CpuTimes(const Machine& machine);

  // Reads the CPUs that are on line; false if /proc/stat cannot be read. Allocates nothing.
  bool Read();
  std::span<const CpuJiffies> cpus() const { return cpus_; }
  // Processes and threads started since boot; 0: unknown. While it is constant, there are no new
  // ones.
  uint64_t forks() const { return forks_; }
  // By CPU number, including those off line.
  const std::vector<uint16_t>& packages() const { return packages_; }
  // The package of each CPU that is on line now.
  std::vector<uint16_t> PackagesOnline() const;

 private:
  std::vector<uint16_t> packages_;
  ProcFile file_;
  std::vector<char> buffer_;
  std::vector<CpuJiffies> cpus_;
  bool told_together_ = false;  // cpus_ has a single entry for all of them
  uint64_t forks_ = 0;
};

// A line "cpu12 ..." of /proc/stat: the CPU's number and columns; false for another line or one
// that is cut short.
bool ParseCpuLine(std::string_view line, CpuJiffies& cpu);

// Time spent on anything but waiting. User time already includes guest time; stolen time was spent
// by another machine.
uint64_t BusyJiffies(const CpuJiffies& cpu);
uint64_t BusyNanos(const CpuJiffies& cpu);
// Time spent waiting, including for disks.
uint64_t IdleJiffies(const CpuJiffies& cpu);

}  // namespace beryl::sources
