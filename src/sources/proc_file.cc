#include "sources/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <utility>

namespace beryl::sources {

ProcFile::ProcFile(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}

ProcFile::ProcFile(ProcFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ProcFile& ProcFile::operator=(ProcFile&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

ProcFile::~ProcFile() { Close(); }

void ProcFile::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string_view ProcFile::Read(std::span<char> buffer) const {
  if (fd_ < 0) return {};
  const ssize_t got = pread(fd_, buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string_view(buffer.data(), static_cast<size_t>(got)) : std::string_view();
}

std::string_view Words::Next() {
  const size_t start = left_.find_first_not_of(" \t\n");
  if (start == std::string_view::npos) {
    left_ = {};
    return {};
  }
  left_.remove_prefix(start);
  const std::string_view word = left_.substr(0, left_.find_first_of(" \t\n"));
  left_.remove_prefix(word.size());
  return word;
}

uint64_t Words::Number() {
  const std::string_view word = Next();
  uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

void Words::Skip(int words) {
  for (; words > 0; --words) Next();
}

StatLine ParseStatLine(std::string_view text) {
  StatLine line;
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return line;
  }
  line.name = text.substr(open + 1, close - open - 1);
  Words words(text.substr(close + 1));
  const std::string_view state = words.Next();
  if (state.empty()) return line;
  line.state = state.front();
  line.parent = static_cast<int32_t>(words.Number());
  words.Skip(9);  // pgrp to cmajflt
  line.user = words.Number();
  line.system = words.Number();
  line.children_user = words.Number();
  line.children_system = words.Number();
  words.Skip(21);  // priority to exit_signal
  if (words.done()) return line;
  line.cpu = static_cast<uint16_t>(words.Number());
  line.ok = true;
  return line;
}

uint64_t ParseSchedstat(std::string_view text) { return Words(text).Number(); }

double NanosPerJiffy() {
  static const double kNanos = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
  return kNanos;
}

}  // namespace beryl::sources
