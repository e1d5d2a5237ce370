// The command line: one file per subcommand. A command parses, calls a flow and prints; it computes
// nothing.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "base/text.h"

namespace beryl::cli {

// Before the name of an option.
inline constexpr std::string_view kFlag = "--";

enum ExitCode { kSuccess = 0, kFailure = 1, kMisuse = 2 };

// Runs the program and returns its exit code. stdout has data only; messages go to stderr.
int Run(int argc, char** argv);

// Prints lines to stderr. Controls in them, which came from outside, are made visible.
void Say(std::string_view lines);
template <typename First, typename... Rest>
void Say(fmt::format_string<First, Rest...> lines, First&& first, Rest&&... rest) {
  Say(fmt::format(lines, std::forward<First>(first), std::forward<Rest>(rest)...));
}
// Prints the error to stderr and returns the exit code for it.
int Fail(const Error& error);

}  // namespace beryl::cli
