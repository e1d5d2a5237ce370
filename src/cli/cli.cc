#include "cli/cli.h"

#include <csignal>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "version.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter =
    R"(Every command has its own help with examples: beryl COMMAND --help

EXAMPLES
  beryl demo                                               see it work in a second
  beryl account --ops trace.json.gz --power power.csv      where did the joules of my run go?)";

}  // namespace

int Fail(const Error& error) {
  fmt::print(stderr, "beryl: {}\n", error.message);
  return error.code == ErrorCode::kMisuse ? kMisuse : kFailure;
}

int Run(int argc, char** argv) {
  // A reader that goes away, such as head, ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  CLI::App app{"Where do a deep-learning program's joules go?", "beryl"};
  app.footer(kFooter);
  app.set_version_flag("--version", fmt::format("beryl {} ({})", kVersion, kBuildType));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = kSuccess;
  AddAccountCommand(app, exit_code);
  AddDemoCommand(app, exit_code);
  AddCompletionCommand(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    return app.exit(done);  // --help and --version
  } catch (const CLI::ParseError& error) {
    std::string where = "beryl";
    for (const CLI::App* command : app.get_subcommands()) where += " " + command->get_name();
    fmt::print(stderr, "{}: {}\nSee {} --help\n", where, error.what(), where);
    return kMisuse;
  }
  return exit_code;
}

}  // namespace beryl::cli
