#include "sources/cpu_times.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace beryl::sources {
namespace {

constexpr size_t kMostCpus = 16'384;
constexpr size_t kFewestColumns = 4;  // user, nice, system, idle: old kernels have no more
// Lines of CPUs take up to 120 bytes; the lines of interrupts after them, thousands.
constexpr size_t kBytesBesideCpus = size_t{64} << 10;

// The number of "cpu12"; nothing for another word.
std::optional<size_t> CpuNumber(std::string_view word) {
  if (!word.starts_with("cpu") || word.size() < 4) return std::nullopt;
  size_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 3, end, number);
  if (error != std::errc() || stop != end || number >= kMostCpus) return std::nullopt;
  return number;
}

// The times of a CPU; false if there are too few.
bool TakeColumns(Words& words, CpuJiffies& cpu) {
  size_t told = 0;
  for (uint64_t& column : cpu.columns) {
    const std::string_view word = words.Next();
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), column);
    if (error != std::errc() || stop != word.data() + word.size()) break;
    ++told;
  }
  return told >= kFewestColumns;
}

size_t CountCpus(const std::string& folder) {
  size_t count = 0;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return 0;
  while (const dirent* entry = readdir(entries)) {
    if (const auto number = CpuNumber(entry->d_name)) count = std::max(count, *number + 1);
  }
  closedir(entries);
  return count;
}

}  // namespace

std::vector<uint16_t> CpuPackages(const Machine& machine) {
  const std::string folder = machine.sysfs + "/devices/system/cpu";
  std::vector<uint16_t> packages(CountCpus(folder), 0);
  for (size_t cpu = 0; cpu < packages.size(); ++cpu) {
    char buffer[32];
    const ProcFile file(fmt::format("{}/cpu{}/topology/physical_package_id", folder, cpu).c_str());
    packages[cpu] = static_cast<uint16_t>(Words(file.Read(buffer)).Number());
  }
  return packages;
}

CpuTimes::CpuTimes(const Machine& machine)
    : packages_(CpuPackages(machine)), file_((machine.procfs + "/stat").c_str()) {
  // The first read counts the CPUs: stand-in machines need not be consistent.
  buffer_.resize(kMostCpus * 8);
  cpus_.reserve(kMostCpus);
  Read();
  size_t count = packages_.size();
  for (const CpuJiffies& cpu : cpus_) count = std::max<size_t>(count, size_t{cpu.cpu} + 1);
  packages_.resize(count, 0);
  for (CpuJiffies& cpu : cpus_) cpu.package = packages_[cpu.cpu];
  std::vector<CpuJiffies> fitting(cpus_);
  fitting.reserve(count);
  cpus_.swap(fitting);
  buffer_.resize(count * 128 + kBytesBesideCpus);
  buffer_.shrink_to_fit();
}

bool CpuTimes::Read() {
  std::string_view text = file_.Read(buffer_);
  if (text.empty()) return false;
  cpus_.clear();
  std::optional<CpuJiffies> all;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Words words(line);
    const std::string_view word = words.Next();
    if (word == "processes") forks_ = words.Number();
    CpuJiffies cpu;
    if (word == "cpu" && TakeColumns(words, cpu)) all = cpu;
    // More than at the start: a CPU was plugged in, and there is no room for it.
    if (!ParseCpuLine(line, cpu) || cpus_.size() == cpus_.capacity()) continue;
    cpu.package = cpu.cpu < packages_.size() ? packages_[cpu.cpu] : uint16_t{0};
    cpus_.push_back(cpu);
  }
  // Some containers only report all CPUs together.
  told_together_ = cpus_.empty() && all && cpus_.capacity() > 0;
  if (told_together_) cpus_.push_back(*all);
  return !cpus_.empty();
}

std::vector<uint16_t> CpuTimes::PackagesOnline() const {
  if (told_together_) return packages_;
  std::vector<uint16_t> packages;
  packages.reserve(cpus_.size());
  for (const CpuJiffies& cpu : cpus_) packages.push_back(cpu.package);
  return packages;
}

bool ParseCpuLine(std::string_view line, CpuJiffies& cpu) {
  Words words(line);
  const auto number = CpuNumber(words.Next());
  if (!number) return false;
  cpu.cpu = static_cast<uint16_t>(*number);
  return TakeColumns(words, cpu);
}

uint64_t BusyJiffies(const CpuJiffies& cpu) {
  const auto& [user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice] =
      cpu.columns;
  return user + nice + system + irq + softirq;
}

uint64_t BusyNanos(const CpuJiffies& cpu) {
  return static_cast<uint64_t>(static_cast<double>(BusyJiffies(cpu)) * NanosPerJiffy());
}

uint64_t IdleJiffies(const CpuJiffies& cpu) { return cpu.columns[3] + cpu.columns[4]; }

}  // namespace beryl::sources
