// Shell completion, made from the commands as they are, so that it cannot fall behind them.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

constexpr const char* kFooter = R"(EXAMPLES
  beryl completion bash > ~/.local/share/bash-completion/completions/beryl
  beryl completion zsh  > ~/.zfunc/_beryl        (a folder in $fpath)
  beryl completion fish > ~/.config/fish/completions/beryl.fish)";

std::vector<std::string> OptionNames(const Command& command) {
  std::vector<std::string> names;
  for (const Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Words an option's value may be, from the list in its type name: "TEXT:{table,json}".
std::vector<std::string> Choices(const Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  const auto words = Split(std::string_view(type).substr(open + 1, close - open - 1), ',');
  return {words.begin(), words.end()};
}

std::string Bash(const Command& app) {
  std::string commands;
  std::string cases;
  for (const Command* command : app.get_subcommands()) {
    commands += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                         fmt::join(OptionNames(*command), " "));
  }
  std::string values;
  for (const Command* command : app.get_subcommands()) {
    for (const Option* option : command->get_options()) {
      const auto choices = Choices(*option);
      if (choices.empty() || option->get_lnames().empty()) continue;
      values +=
          fmt::format("    {}:--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                      command->get_name(), option->get_lnames().front(), fmt::join(choices, " "));
    }
  }
  return fmt::format(R"(_beryl() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{}--help --version" -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}:$before" in
{}    completion:completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$current")); return ;;
  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _beryl beryl
)",
                     commands, values, cases);
}

std::string Quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) {
    text.replace(at, 1, "'\\''");
  }
  return "'" + text + "'";
}

std::string Fish(const Command& app) {
  std::string text = "complete -c beryl -n __fish_use_subcommand -f\n";
  for (const Command* command : app.get_subcommands()) {
    text += fmt::format("complete -c beryl -n __fish_use_subcommand -a {} -d {}\n",
                        command->get_name(), Quoted(command->get_description()));
    for (const Option* option : command->get_options()) {
      if (option->get_lnames().empty()) continue;
      const auto choices = Choices(*option);
      const std::string values =
          choices.empty() ? "" : fmt::format(" -x -a \"{}\"", fmt::join(choices, " "));
      text += fmt::format("complete -c beryl -n '__fish_seen_subcommand_from {}' -l {}{}{} -d {}\n",
                          command->get_name(), option->get_lnames().front(),
                          option->takes_value() ? " -r" : "", values,
                          Quoted(option->get_description()));
    }
  }
  return text +
         "complete -c beryl -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
}

// zsh reads bash's completion.
std::string Zsh(const Command& app) {
  return "#compdef beryl\nautoload -U +X bashcompinit && bashcompinit\n" + Bash(app);
}

}  // namespace

void AddCompletionCommand(Command& app, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  Command* command =
      app.add_subcommand("completion", "Print a script that completes beryl's commands");
  command->footer(kFooter);
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app, &exit_code] {
    fmt::print("{}", *shell == "fish" ? Fish(app) : *shell == "zsh" ? Zsh(app) : Bash(app));
    exit_code = kSuccess;
  });
}

}  // namespace beryl::cli
