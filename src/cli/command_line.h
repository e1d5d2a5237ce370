// Declares the options of a command. The library that parses command lines takes seconds to
// compile, so only command_line.cc includes it.
//
// Names contain the placeholder of the value: "--top N", "-o,--output FILE". The help shows a value
// that is set before parsing as the default. Variables that receive values must outlive the
// parsing; Command::Keep creates one that does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/cli.h"
#include "types/command_synopsis.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
class Option;
class Validator;
}  // namespace CLI

namespace beryl::cli {

// What a value has to be; null: anything.
using Check = std::shared_ptr<const CLI::Validator>;
Check OneWordOf(std::vector<std::string> words);
Check Between(int first, int last);
Check Between(double first, double last);
// Finite, and above 0 (or at least 0).
Check Above0();
Check From0();

// Where an option's value goes: the types that it can have.
using Target = std::variant<std::string*, int*, int64_t*, uint32_t*, uint64_t*, double*,
                            std::optional<int>*, std::optional<int64_t>*, std::optional<double>*,
                            std::vector<std::string>*, std::vector<int>*>;

// An option or argument of a command. Valid as long as the program's Command.
class Parameter {
 public:
  explicit Parameter(CLI::Option* option) : option_(option) {}

  Parameter Required() const;
  Parameter Needs(const Parameter& other) const;
  Parameter Excludes(const std::vector<Parameter>& others) const;
  // The value may be omitted and is then `text`.
  Parameter OrJust(const std::string& text) const;

 private:
  friend class Command;
  CLI::Option* option_;
};

// What "--" becomes where it separates arguments: the control character of that name.
inline constexpr const char* kSeparator = "\x1d";

struct CommandText {
  const char* name;
  const char* line;  // what it does
  const char* help;  // shown after its options; the usual EXIT STATUS is added if missing
};

class Command {
 public:
  // The program itself.
  Command(const CommandText& text, const std::string& version);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // A command that has subcommands does nothing without one of them.
  Command& Subcommand(const CommandText& text, const std::string& group);
  // Adds a subcommand with its arguments, which live as long as the program's Command, and the
  // function it runs.
  template <typename Code, typename T>
  std::pair<Command&, T&> Subcommand(const CommandText& text, const std::string& group,
                                     Code (*run)(const T&)) {
    Command& command = Subcommand(text, group);
    T& arguments = command.Keep<T>();
    command.Run([&arguments, run]() -> Result<int> { return run(arguments); });
    return {command, arguments};
  }

  // A T that lives as long as the program's Command.
  template <typename T>
  T& Keep(T value = {}) {
    auto kept = std::make_shared<T>(std::move(value));
    kept_.push_back(kept);
    return *kept;
  }

  // A list is an option that may be given several times, or all further arguments.
  template <typename T>
  Parameter Option(const std::string& name, T& value, const std::string& help,
                   const Check& check = {}) {
    return Add(name, &value, help, check, false);
  }
  template <typename T>
  Parameter Argument(const std::string& name, T& value, const std::string& help,
                     const Check& check = {}) {
    return Add(name, &value, help, check, true);
  }
  // An option that names a file to write; empty and - are none. The command does not run if that
  // file is also named by another of its values, or is a run file and there is no --force
  // (flows/output_check.h).
  Parameter OutputOption(const std::string& name, std::string& file, const std::string& help);
  // A file or folder that the command reads without an option of its own; asked once the options
  // are parsed.
  void AlsoReads(std::function<std::string()> place) { also_reads_.push_back(std::move(place)); }
  // All further arguments: the words of a program to run, which this one does not read.
  Parameter Words(const std::string& name, std::vector<std::string>& words,
                  const std::string& help);
  Parameter Flag(const std::string& name, bool& value, const std::string& help);
  // One of several words, each with its value; the value that no word has means "not given".
  template <typename T>
  Parameter Choice(const std::string& name, T& value,
                   const std::vector<std::pair<std::string, T>>& words, const std::string& help) {
    std::vector<std::string> names;
    std::string otherwise;
    for (const auto& [word, meaning] : words) {
      names.push_back(word);
      if (meaning == value) otherwise = word;
    }
    return Word(name, names, otherwise, help, [&value, words](const std::string& given) {
      for (const auto& [word, meaning] : words) {
        if (word == given) value = meaning;
      }
    });
  }
  // "--" stays among the arguments as kSeparator, and options may follow it. Otherwise it says that
  // only arguments follow.
  void KeepSeparators() { keeps_separators_ = true; }
  // Called as soon as the command's own words have been parsed.
  void WhenRead(std::function<void()> call);
  // Called if the command is chosen; returns the exit code.
  void Run(std::function<Result<int>()> run);

  // What is wrong with the words, or else what the chosen command returned; 0 after --help.
  struct Parsing {
    std::string refusal = {};
    Result<int> result = 0;
  };
  Parsing Parse(int argc, const char* const* argv);

  CommandSynopsis synopsis() const;
  std::vector<CommandSynopsis> subcommands() const;
  // The subcommand, or "library ls", its own; nothing: none.
  std::optional<CommandSynopsis> chosen() const;
  // The words after the command's name, as typed.
  const std::vector<std::string>& typed() const { return program_->typed_; }
  // In the order given, one entry for each occurrence: the name without dashes, and the value.
  std::vector<std::pair<std::string, std::string>> GivenInOrder() const;

 private:
  Command(CLI::App* app, Command* program);
  Parameter Add(const std::string& name, const Target& target, const std::string& help,
                const Check& check, bool is_argument);
  Parameter Word(const std::string& name, const std::vector<std::string>& words,
                 const std::string& otherwise, const std::string& help,
                 const std::function<void(const std::string&)>& take);

  Status CheckOutputs() const;

  std::unique_ptr<CLI::App> owned_;  // of the program
  CLI::App* app_;
  Command* program_;
  Result<int> result_ = 0;
  std::vector<std::string> typed_;  // of the program
  bool keeps_separators_ = false;
  std::vector<std::unique_ptr<Command>> subcommands_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::pair<const CLI::Option*, const std::string*>> outputs_;
  std::vector<std::function<std::string()>> also_reads_;
  const CLI::Option* words_ = nullptr;
};

}  // namespace beryl::cli
