#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/cli.h"
#include "cli/command_line.h"
#include "cli/monitor_arguments.h"

namespace beryl::cli {
namespace {

// Beside this program.
std::string MonitorPath() {
  std::string self(PATH_MAX, '\0');
  const ssize_t size = ::readlink("/proc/self/exe", self.data(), self.size());
  self.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + "beryl-monitor";
}

// The service is a program of its own: its libraries would make every other command start slower.
int BecomeMonitor(const std::vector<std::string>& words) {
  const std::string program = MonitorPath();
  std::vector<char*> arguments = {const_cast<char*>("beryl-monitor")};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return Fail(IoError(fmt::format(
      "monitor: cannot run '{}': {}; from a checkout ./beryl monitor builds it, by hand: install "
      "what tools/packages-monitor.txt lists, then cmake --build --preset release --target "
      "beryl-monitor",
      program, std::strerror(errno))));
}

}  // namespace

void AddMonitorCommand(Command& app, int& exit_code) {
  auto arguments = std::make_shared<MonitorArguments>();
  Command* command = app.add_subcommand("monitor", kMonitorDescription);
  command->footer(kMonitorFooter);
  AddMonitorOptions(*command, *arguments);
  command->callback([command, arguments, &exit_code] {
    // As they were typed: the other program understands the same ones.
    std::vector<std::string> words;
    for (const Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      // Each value with its name; a flag-like option may have none.
      const std::string name = "--" + option->get_lnames().front();
      const std::vector<std::string>& values = option->results();
      for (const std::string& value : values) words.push_back(fmt::format("{}={}", name, value));
      if (values.empty()) words.push_back(name);
    }
    exit_code = BecomeMonitor(words);
  });
}

}  // namespace beryl::cli
