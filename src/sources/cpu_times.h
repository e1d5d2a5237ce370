// How busy every CPU is, from /proc/stat, and which package it is part of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/proc_file.h"
#include "sources/sources.h"

namespace beryl::sources {

// The package of each CPU by its number, from sysfs; 0 where that does not tell.
std::vector<uint16_t> CpuPackages(const Machine& machine);

class CpuTimes {
 public:
  explicit CpuTimes(const Machine& machine);

  // Reads the CPUs that are there now; false: /proc/stat cannot be read. Allocates nothing.
  bool Read();
  std::span<const CpuJiffies> cpus() const { return cpus_; }
  // Processes and threads that were ever started; 0: not told. As long as it stays, there are no
  // new ones.
  uint64_t forks() const { return forks_; }
  // By the number of a CPU, also of those that are off line.
  const std::vector<uint16_t>& packages() const { return packages_; }
  // The package of each CPU that runs, as of now.
  std::vector<uint16_t> PackagesOnline() const;

 private:
  std::vector<uint16_t> packages_;
  ProcFile file_;
  std::vector<char> buffer_;
  std::vector<CpuJiffies> cpus_;
  bool told_together_ = false;  // cpus_ is one for all of them
  uint64_t forks_ = 0;
};

// A line "cpu12 ..." of /proc/stat: the CPU's number and columns; false: another line, or cut
// short.
bool ParseCpuLine(std::string_view line, CpuJiffies& cpu);

// Time spent on anything but waiting. Guest time is part of user time already; stolen time was
// spent by another machine.
uint64_t BusyJiffies(const CpuJiffies& cpu);
uint64_t BusyNanos(const CpuJiffies& cpu);
// Time spent waiting, for disks too.
uint64_t IdleJiffies(const CpuJiffies& cpu);

}  // namespace beryl::sources
