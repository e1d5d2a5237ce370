// The CPU lines of /proc/stat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::sources {

// Times in ticks of a hundredth of a second, as a rule. Busy is all but idle and waiting for disks;
// a guest's time is part of user time already.
struct CpuTicks {
  uint64_t busy = 0;
  uint64_t idle = 0;
};

// Fills in out[c] for each line "cpuC ...", and `all` from the line "cpu ...". Lines that are not
// like that are passed over, as are CPUs beyond `out`. Returns whether there was any such line.
// Allocates nothing.
bool ParseProcStat(std::string_view text, CpuTicks& all, std::span<CpuTicks> out);

// Reads the file again and again without allocating.
class ProcStat {
 public:
  ProcStat(const std::string& procfs, size_t cpus);
  ~ProcStat();
  ProcStat(const ProcStat&) = delete;
  ProcStat& operator=(const ProcStat&) = delete;

  // False: it cannot be read now; what was read before stays.
  bool Read();
  const CpuTicks& all() const { return all_; }
  const std::vector<CpuTicks>& cpus() const { return cpus_; }

 private:
  int fd_ = -1;
  CpuTicks all_;
  std::vector<CpuTicks> cpus_;
  std::vector<char> buffer_;
};

// The package of each CPU that /proc/stat and /sys know of, by CPU number. A CPU whose package is
// not told is of package 0. Empty: /proc/stat cannot be read.
std::vector<uint32_t> PackagesOfCpus(const std::string& sysfs, const std::string& procfs);

}  // namespace beryl::sources
