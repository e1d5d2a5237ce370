#include "sources/cpu_times.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace beryl::sources {
namespace {

constexpr size_t kMostCpus = 16'384;
// Lines of CPUs take up to 120 bytes; those of interrupts, behind them, thousands.
constexpr size_t kBytesBesideCpus = size_t{64} << 10;

// The number of "cpu12"; nothing if the word is another one.
std::optional<size_t> CpuNumber(std::string_view word) {
  if (!word.starts_with("cpu") || word.size() < 4) return std::nullopt;
  size_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 3, end, number);
  if (error != std::errc() || stop != end || number >= kMostCpus) return std::nullopt;
  return number;
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
  // The first look is for how many there are: stand-in machines need not agree with themselves.
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
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    Words words(line);
    const std::string_view word = words.Next();
    if (word == "processes") forks_ = words.Number();
    const auto number = CpuNumber(word);
    // More than at the start: a CPU was plugged in; there is no room kept for it.
    if (!number || cpus_.size() == cpus_.capacity()) continue;
    CpuJiffies& cpu = cpus_.emplace_back();
    cpu.cpu = static_cast<uint16_t>(*number);
    cpu.package = *number < packages_.size() ? packages_[*number] : uint16_t{0};
    for (uint64_t& column : cpu.columns) column = words.Number();
  }
  return !cpus_.empty();
}

uint64_t BusyNanos(const CpuJiffies& cpu) {
  const auto& [user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice] =
      cpu.columns;
  return static_cast<uint64_t>(static_cast<double>(user + nice + system + irq + softirq) *
                               NanosPerJiffy());
}

}  // namespace beryl::sources
