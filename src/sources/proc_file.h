// Files below /proc, read again and again: kept open, read into a buffer of the caller's, taken
// apart without allocating.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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
  // From the start, as much as fits; empty: it cannot be read (a process that is gone), or is
  // empty.
  std::string_view Read(std::span<char> buffer) const;

 private:
  int fd_ = -1;
};

// Takes words off a text. What is not a number reads as 0.
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

// What we need of /proc/PID/stat and /proc/PID/task/TID/stat.
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
// The name may hold anything, brackets and blanks too: it ends at the last bracket.
StatLine ParseStatLine(std::string_view text);

// Nanoseconds that a task has run, the first word of its schedstat.
uint64_t ParseSchedstat(std::string_view text);

double NanosPerJiffy();

}  // namespace beryl::sources
