// Small files of /sys and /proc, read once during discovery.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/machine.h"

namespace beryl::sources {

// A whole number, if all of `text` is one (blanks and line ends around it are allowed) and it fits.
// Allocates nothing.
std::optional<uint64_t> ParseCount(std::string_view text);

// The content of a small file, trimmed; nothing if it cannot be read.
std::optional<std::string> ReadLine(const std::string& path);
std::optional<uint64_t> ReadCount(const std::string& path);

// The names in a folder except . and .., in natural order (zone2 before zone10); empty if there is
// no such folder.
std::vector<std::string> NamesIn(const std::string& folder);
bool IsFolder(const std::string& path);

// The numbers in "0,2-4", in order; empty if it is not a list. At most 65536.
std::vector<uint32_t> ParseList(std::string_view text);

// "Permission denied (EACCES)".
std::string ErrorText(int error);

// Whether the processors are from AMD, or from Hygon, its licensee. Their RAPL counters are per
// package, not per die, whatever the kernel reports.
bool HasAmdProcessors(const std::string& procfs);

// Whether this is a virtual machine: the processors, the kernel or the firmware say so.
bool IsVirtual(const Machine& machine);

// Commands that give rights to the running program, wherever it is installed: for remedies. "sudo
// setcap CAPABILITIES /usr/bin/beryl".
std::string SetcapCommand(const std::string& capabilities);
// "sudo /usr/bin/beryl monitor".
std::string MonitorCommand();

}  // namespace beryl::sources
