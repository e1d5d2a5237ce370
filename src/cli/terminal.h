// What the terminal can show.
#pragma once

#include <string>

namespace beryl::cli {

// Columns of the terminal, of $COLUMNS, or 100.
int TerminalWidth(bool to_stdout);
// `choice` is auto, always or never; auto: the output is a terminal and NO_COLOR is not set.
bool WantColor(const std::string& choice, bool to_stdout);

}  // namespace beryl::cli
