#include "cli/command_line.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {"completion", "Print a script that completes beryl's commands",
                               R"(EXAMPLES
  beryl completion bash > ~/.local/share/bash-completion/completions/beryl
  beryl completion zsh  > ~/.zfunc/_beryl        (a folder in $fpath)
  beryl completion fish > ~/.config/fish/completions/beryl.fish)"};

}  // namespace

void AddCompletion(Command& program, const char* group) {
  Command& command = program.Subcommand(kText, group);
  auto& shell = command.Keep<std::string>();
  command.Argument("SHELL", shell, "bash, zsh or fish", OneWordOf({"bash", "zsh", "fish"}))
      .Required();
  command.Run([&shell, &program]() -> Result<int> {
    fmt::print("{}", views::WriteCompletion(program.subcommands(), shell));
    return kSuccess;
  });
}

}  // namespace beryl::cli
