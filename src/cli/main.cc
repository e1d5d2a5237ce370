#include <cstdio>
#include <exception>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // Below this nothing throws on purpose; what does is the machine running out of something.
  try {
    return beryl::cli::Run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "beryl: cannot go on: %s\n", problem.what());
    return beryl::cli::kFailure;
  }
}
