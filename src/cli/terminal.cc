#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace beryl::cli {

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

bool WantColor(const std::string& choice, bool to_stdout) {
  if (choice != "auto") return choice == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return to_stdout && ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

}  // namespace beryl::cli
