#include "cli/services.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <exception>

#include "version.h"

namespace beryl::cli {
namespace {

std::string BesideThisProgram(const std::string& name) {
  std::string self(PATH_MAX, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", self.data(), self.size());
  self.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + name;
}

}  // namespace

Result<int> BecomeProgram(const Command& command, const CommandText& text, const char* program) {
  std::vector<std::string> words = command.typed();
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string path = BesideThisProgram(program);
  ::execv(path.c_str(), arguments.data());
  return IoError(fmt::format(
      "{0}: cannot run '{2}': {3}; from a checkout ./beryl {0} builds it, and ./beryl install "
      "--{1} installs it; the Debian package {4} has it",
      text.name, std::string(program).substr(sizeof("beryl-") - 1), path, std::strerror(errno),
      program));
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
    if (::access(BesideThisProgram("beryl-" + service).c_str(), X_OK) == 0) {
      services += ", " + service;
    }
  }
  return fmt::format("beryl {} ({}{}{}{})", kVersion, kBuildType, kCommit.empty() ? "" : ", ",
                     kCommit, services);
}

}  // namespace beryl::cli
