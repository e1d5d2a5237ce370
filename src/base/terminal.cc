#include "base/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/text.h"

namespace beryl {
namespace {

// What every terminal understands that is not "dumb": another screen, its cursor hidden.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearRestOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

void Write(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

winsize SizeOf(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

// The terminal $TERM, unless it is a dumb one.
bool IsTerminal(int fd) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace

int TerminalWidth(bool to_stdout) {
  constexpr int kDefault = 100;
  constexpr int kWidest = 200;
  winsize size{};
  if (to_stdout && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::min<int>(size.ws_col, kWidest);
  }
  const char* columns = std::getenv("COLUMNS");
  const int given = columns != nullptr ? std::atoi(columns) : 0;
  return given > 0 ? std::min(given, kWidest) : kDefault;
}

bool ShowsColor() {
  const char* no_color = std::getenv("NO_COLOR");
  return IsTerminal(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0');
}

std::unique_ptr<Screen> Screen::Open(int out, int in) {
  if (!IsTerminal(out)) return nullptr;
  return std::unique_ptr<Screen>(new Screen(out, in));  // private
}

Screen::Screen(int out, int in) : out_(out), in_(in) {
  // A program in the background must not take the keys.
  if (::isatty(in) == 1 && ::tcgetpgrp(in) == ::getpgrp() && ::tcgetattr(in, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    // Stopped or aborted from the keyboard, it could not put the terminal in order.
    keys.c_cc[VSUSP] = _POSIX_VDISABLE;
    keys.c_cc[VQUIT] = _POSIX_VDISABLE;
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    reads_keys_ = ::tcsetattr(in, TCSANOW, &keys) == 0;
  }
  Write(out_, kEnter);
}

Screen::~Screen() {
  Write(out_, kLeave);
  if (reads_keys_) ::tcsetattr(in_, TCSANOW, &before_);
}

int Screen::rows() const { return SizeOf(out_).ws_row; }
int Screen::columns() const { return SizeOf(out_).ws_col; }

void Screen::Draw(std::string_view page) {
  std::string drawn(kHome);
  const auto lines = Split(page, '\n');
  const auto shown = std::min(lines.size(), static_cast<size_t>(std::max(1, rows())));
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) drawn += "\n";
    drawn += lines[i];
    drawn += kClearRestOfLine;
  }
  drawn += kClearBelow;
  Write(out_, drawn);
}

bool Screen::WantsEnd() {
  if (!reads_keys_) return false;
  pollfd waiting{in_, POLLIN, 0};
  std::array<char, 64> keys{};
  if (::poll(&waiting, 1, 0) <= 0) return false;
  const ssize_t count = ::read(in_, keys.data(), keys.size());
  return count > 0 && std::any_of(keys.begin(), keys.begin() + count,
                                  [](char key) { return key == 'q' || key == 'Q'; });
}

StatusLine::StatusLine() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (is_open_) Write(STDERR_FILENO, "\n");
}

void StatusLine::Show(const std::string& line) {
  if (!is_terminal_) return Write(STDERR_FILENO, line + "\n");
  const auto width = static_cast<size_t>(TerminalWidth(false) - 1);
  Write(STDERR_FILENO, "\r" + Ellipsize(line, width) + std::string(kClearRestOfLine));
  is_open_ = true;
}

}  // namespace beryl
