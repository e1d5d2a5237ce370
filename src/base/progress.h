// A progress line on standard error; silent unless that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace beryl {

class Progress {
 public:
  // `total` 0: unknown. `enabled`: standard error is a terminal, as the CLI determines.
  Progress(const std::string& what, uint64_t total, bool enabled);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap: draws at most ten times a second, and not in the first tenth.
  void Update(uint64_t done);

 private:
  std::string what_;
  uint64_t total_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace beryl
