#include <fmt/format.h>
#include <fmt/ranges.h>

#include "views/views.h"

namespace beryl::views {
namespace {

using Commands = const std::vector<CommandSynopsis>&;

std::vector<std::string> OptionNames(const CommandSynopsis& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// Options by their long name, which is what shells complete.
template <typename Take>
void ForEachLongOption(const CommandSynopsis& command, Take&& take) {
  for (const auto& option : command.options) {
    const auto& names = option.names;
    if (!names.empty() && names.front().starts_with("--")) take(option, names.front().substr(2));
  }
}

std::string Bash(Commands all) {
  std::string commands;
  std::string cases;
  for (const CommandSynopsis& command : all) {
    commands += command.name + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name,
                         fmt::join(OptionNames(command), " "));
  }
  std::string values;
  for (const CommandSynopsis& command : all) {
    ForEachLongOption(command, [&](const auto& option, const std::string& name) {
      if (option.words.empty()) return;
      values +=
          fmt::format("    {}:--{}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                      command.name, name, fmt::join(option.words, " "));
    });
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

std::string Fish(Commands all) {
  std::string text = "complete -c beryl -n __fish_use_subcommand -f\n";
  for (const CommandSynopsis& command : all) {
    text += fmt::format("complete -c beryl -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        Quoted(command.line));
    ForEachLongOption(command, [&](const auto& option, const std::string& name) {
      const auto& words = option.words;
      const std::string values =
          words.empty() ? "" : fmt::format(" -x -a \"{}\"", fmt::join(words, " "));
      text += fmt::format("complete -c beryl -n '__fish_seen_subcommand_from {}' -l {}{}{} -d {}\n",
                          command.name, name, option.takes_value ? " -r" : "", values,
                          Quoted(option.description));
    });
  }
  return text +
         "complete -c beryl -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
}

// zsh can use bash's completion.
std::string Zsh(Commands all) {
  return "#compdef beryl\nautoload -U +X bashcompinit && bashcompinit\n" + Bash(all);
}

}  // namespace

std::string WriteCompletion(const std::vector<CommandSynopsis>& commands, std::string_view shell) {
  if (shell == "fish") return Fish(commands);
  return shell == "zsh" ? Zsh(commands) : Bash(commands);
}

}  // namespace beryl::views
