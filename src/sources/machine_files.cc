#include "sources/machine_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strerrorname_np is not in <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::sources {
namespace {

constexpr size_t kLargestList = 65536;
constexpr std::string_view kMonitor = "beryl-monitor";  // installed beside beryl

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Compares digits as numbers and everything else as characters.
bool NaturalLess(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const auto digits = [](std::string_view text) {
        const size_t end = text.find_first_not_of("0123456789");
        return text.substr(0, end);
      };
      const std::string_view number_a = digits(a);
      const std::string_view number_b = digits(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      a.remove_prefix(number_a.size());
      b.remove_prefix(number_b.size());
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

// The path of the running program; "beryl" if the system does not tell.
std::string OwnPath() {
  std::array<char, 4096> path;
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "beryl";
}

bool IsMonitor(std::string_view path) { return path.substr(path.rfind('/') + 1) == kMonitor; }

// Quoted as one shell word.
std::string Quoted(const std::string& word) {
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+,:=@%").find(c) != std::string_view::npos;
  });
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::optional<uint64_t> ParseCount(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<std::string> ReadLine(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  if (got < 0) return std::nullopt;
  return std::string(Trim(std::string_view(buffer.data(), static_cast<size_t>(got))));
}

std::optional<uint64_t> ReadCount(const std::string& path) {
  const auto line = ReadLine(path);
  return line ? ParseCount(*line) : std::nullopt;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end(), NaturalLess);
  return names;
}

bool IsFolder(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

std::vector<uint32_t> ParseList(std::string_view text) {
  std::vector<uint32_t> numbers;
  for (const std::string_view part : Split(Trim(text), ',')) {
    const size_t dash = part.find('-');
    const auto first = ParseCount(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseCount(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kLargestList || *last > UINT32_MAX ||
        numbers.size() + (*last - *first) >= kLargestList) {
      return {};
    }
    for (uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(static_cast<uint32_t>(number));
    }
  }
  return numbers;
}

bool HasAmdProcessors(const std::string& procfs) {
  const auto text = ReadLine(procfs + "/cpuinfo");  // the start is enough
  return text && (text->find("AuthenticAMD") != std::string::npos ||
                  text->find("HygonGenuine") != std::string::npos);
}

bool IsVirtual(const Machine& machine) {
  const auto cpus = ReadLine(machine.procfs + "/cpuinfo");  // the flags of the first are enough
  if (cpus && cpus->find(" hypervisor") != std::string::npos) return true;
  if (ReadLine(machine.sysfs + "/hypervisor/type")) return true;
  // Processors that do not say so, such as those of ARM.
  for (const char* name : {"sys_vendor", "product_name"}) {
    const auto text = ReadLine(machine.sysfs + "/class/dmi/id/" + name);
    for (const char* maker : {"QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Virtual Machine",
                              "Google Compute Engine", "OpenStack", "Parallels"}) {
      if (text && text->find(maker) != std::string::npos) return true;
    }
  }
  return false;
}

std::string SetcapCommand(const std::string& capabilities) {
  const std::string path = OwnPath();
  std::string command = fmt::format("sudo setcap {} {}", capabilities, Quoted(path));
  if (IsMonitor(path)) return command;
  const std::string beside = path.substr(0, path.rfind('/') + 1) + std::string(kMonitor);
  return fmt::format("{} (the monitor is a separate program: {})", command, Quoted(beside));
}

std::string MonitorCommand() {
  const std::string path = OwnPath();
  return fmt::format("sudo {}{}", Quoted(path), IsMonitor(path) ? "" : " monitor");
}

std::string ErrorText(int error) {
  const char* name = ::strerrorname_np(error);
  return fmt::format("{} ({})", std::generic_category().message(error), name ? name : "?");
}

}  // namespace beryl::sources
