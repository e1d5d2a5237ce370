#include "cli/services.h"

#include <cstdio>
#include <exception>

#include "base/sibling_program.h"
#include "version.h"

namespace beryl::cli {
Result<int> BecomeProgram(const Command& command, const CommandText& text, const char* program) {
  std::vector<std::string> words = command.typed();
  words.insert(words.begin(), program);
  const std::string path = BesideThisProgram(program);
  const std::string why = BecomeProgramAt(path, std::move(words));
  return IoError(fmt::format(
      "{0}: cannot run '{2}': {3}; from a checkout ./beryl {0} builds it, and ./beryl install "
      "--{1} installs it; the Debian package {4} has it",
      text.name, std::string(program).substr(sizeof("beryl-") - 1), path, why, program));
}

int RunService(int argc, char** argv, const CommandText& text, const char* program,
               const std::function<void(Command&)>& add, const std::function<Status()>& run) {
  try {
    Command app({program, text.line, text.help}, VersionText());
    add(app);
    app.Run([&]() -> Result<int> {
      TRY(run());
      return kSuccess;
    });
    const Command::Parsing parsing = app.Parse(argc, argv);
    if (!parsing.refusal.empty()) {
      Say("beryl {0}: {1}\nSee beryl {0} --help\n", text.name, parsing.refusal);
      return kMisuse;
    }
    return parsing.result ? *parsing.result : Fail(parsing.result.error());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "beryl %s: cannot go on: %s\n", text.name, problem.what());
    return kFailure;
  }
}

std::string VersionText() {
  std::string services;
  for (const std::string service : {"monitor", "server"}) {
    if (IsBesideThisProgram("beryl-" + service)) services += ", " + service;
  }
  return fmt::format("beryl {} ({}{}{}{})", kVersion, kBuildType, kCommit.empty() ? "" : ", ",
                     kCommit, services);
}

}  // namespace beryl::cli
