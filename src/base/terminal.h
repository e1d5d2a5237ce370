// The terminal: its width, whether it shows colours, and drawing on it again and again.
#pragma once

#include <termios.h>

#include <memory>
#include <string>
#include <string_view>

namespace beryl {

// The width of the terminal, $COLUMNS, or 100.
int TerminalWidth(bool to_stdout);
// Whether standard output is a terminal that shows colours, and nobody asked for none ($NO_COLOR).
bool ShowsColor();

// A terminal that is drawn on. It is as it was before once the Screen is gone. Only with signals
// that are read as messages: one that ends the program at once would leave the terminal as it is.
class Screen {
 public:
  // Nothing if `out` is no terminal that can be drawn on. Keys are read from `in` if that is one.
  static std::unique_ptr<Screen> Open(int out, int in);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  int rows() const;
  int columns() const;
  // Shows the page instead of the last one, as far as it fits.
  void Draw(std::string_view page);
  // Whether there are keys to press.
  bool reads_keys() const { return reads_keys_; }
  // Whether q was pressed.
  bool WantsEnd();

 private:
  Screen(int out, int in);

  int out_;
  int in_;
  bool reads_keys_ = false;
  termios before_{};
};

// A line on standard error. On a terminal the next one replaces it; elsewhere they follow each
// other.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(const std::string& line);

 private:
  bool is_terminal_;
  bool is_open_ = false;  // a line was shown without its end
};

}  // namespace beryl
