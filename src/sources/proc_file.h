// Files below /proc that are read repeatedly: kept open, read into the caller's buffer, parsed
// without allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace beryl::sources {

class ProcFile {
 public:
  ProcFile() = default;
  explicit ProcFile(const char* path);
  ProcFile(ProcFile&& other) noexcept;
  ProcFile& operator=(ProcFile&& other) noexcept;
  ~ProcFile();

  bool is_open() const { return fd_ >= 0; }
  void Close();
  // Closes it if its number is `first` or above.
  void LeaveFrom(int first) {
    if (fd_ >= first) Close();
  }
  // Reads from the start, as much as fits; empty if it cannot be read (the process is gone) or is
  // empty.
  std::string_view Read(std::span<char> buffer) const;

 private:
  int fd_ = -1;
};

// Splits words off a text. A word that is not a number reads as 0.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}

  bool done() const { return left_.empty(); }
  std::string_view Next();
  uint64_t Number();
  void Skip(int words);

 private:
  std::string_view left_;
};

// The fields we need of /proc/PID/stat and /proc/PID/task/TID/stat.
struct StatLine {
  std::string_view name;
  int32_t parent = 0;
  char state = '?';
  uint64_t user = 0;  // jiffies from here on
  uint64_t system = 0;
  uint64_t children_user = 0;  // of children that ended and were waited for
  uint64_t children_system = 0;
  uint16_t cpu = 0;
  bool ok = false;
};
// The name may contain anything, including brackets and blanks: it ends at the last bracket.
StatLine ParseStatLine(std::string_view text);

// Nanoseconds that a task has run: the first word of its schedstat.
uint64_t ParseSchedstat(std::string_view text);

double NanosPerJiffy();

}  // namespace beryl::sources
