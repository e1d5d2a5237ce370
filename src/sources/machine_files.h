// Small files of /sys and /proc, read once while looking for meters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace beryl::sources {

// A whole number that is all of `text`, blanks and line ends around it allowed. Nothing: something
// else, or too large. Allocates nothing.
std::optional<uint64_t> ParseCount(std::string_view text);

// What stands in a small file, without blanks around it; nothing: it cannot be read.
std::optional<std::string> ReadLine(const std::string& path);
std::optional<uint64_t> ReadCount(const std::string& path);

// The names in a folder but for . and .., in natural order (zone2 before zone10); empty if there is
// no such folder.
std::vector<std::string> NamesIn(const std::string& folder);
bool IsFolder(const std::string& path);

// "0,2-4": the numbers in it, in order; what is no list gives nothing. At most 65536 of them.
std::vector<uint32_t> ParseList(std::string_view text);

// "Permission denied (EACCES)".
std::string ErrorText(int error);

// Whether the processors are AMD's, or Hygon's after them. Their RAPL counters are of a package,
// not of a die of it, whatever the kernel takes them for.
bool HasAmdProcessors(const std::string& procfs);

// Commands that give rights to this program, as it runs, wherever it is: for remedies.
// "sudo setcap CAPABILITIES /usr/bin/beryl".
std::string SetcapCommand(const std::string& capabilities);
// "sudo /usr/bin/beryl monitor".
std::string MonitorCommand();

}  // namespace beryl::sources
