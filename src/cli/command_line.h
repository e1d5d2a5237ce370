// What subcommands say to the library that parses command lines. Its headers take seconds to
// compile, so that they are named in command_line.cc alone; methods are called as they are there.
// Commands own their subcommands and options: pointers are valid as long as the outermost one is.
// What an option is to be written to, and what callbacks refer to, has to outlive the parsing.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own
class App;
class Option;
class Validator;
}  // namespace CLI

namespace beryl::cli {

// What a value has to be.
class Check {
 public:
  // `problem` says what is wrong with a value, or nothing.
  explicit Check(const std::function<std::string(const std::string& value)>& problem);
  explicit Check(std::shared_ptr<const CLI::Validator> validator)
      : validator_(std::move(validator)) {}

  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};
Check IsMember(std::vector<std::string> words);
Check Range(int first, int last);
Check Range(double first, double last);
// NaN passes these two; FiniteAbove0 and FiniteFrom0 of dataset_arguments.h refuse it.
Check PositiveNumber();
Check NonNegativeNumber();

// What an option's value can be read into.
template <typename T, typename... Ts>
concept OneOf = (std::same_as<T, Ts> || ...);
template <typename T>
concept OptionValue =
    OneOf<T, std::string, int, int64_t, uint32_t, uint64_t, double, std::optional<int>,
          std::optional<double>, std::vector<std::string>, std::vector<int>>;

class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* type_name(std::string name);
  Option* default_str(std::string text);
  Option* capture_default_str();
  Option* required();
  Option* expected(int count);
  Option* expected(int least, int most);
  Option* allow_extra_args(bool allow);
  Option* take_all();
  Option* check(const Check& check);
  Option* needs(Option* other);
  Option* excludes(Option* other);

  // Without their dashes.
  const std::vector<std::string>& get_lnames() const;
  const std::vector<std::string>& get_snames() const;
  const std::string& get_single_name() const;
  std::string get_type_name() const;
  const std::string& get_description() const;
  bool takes_value() const;

  // How often it was given, and with which values.
  size_t count() const;
  const std::vector<std::string>& results() const;

 private:
  friend class Command;

  CLI::Option* option_;
};

// What became of a command line.
struct Parsing {
  enum class Outcome {
    kDone,      // the callbacks were called
    kAnswered,  // --help or --version was asked for, and is printed
    kRefused
  };
  Outcome outcome = Outcome::kDone;
  std::string refusal;  // why
};

class Command {
 public:
  // The program itself.
  Command(const std::string& description, const std::string& name);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(std::string name, std::string description);
  template <OptionValue T>
  Option* add_option(std::string name, T& value, std::string description);
  // `take` is given all values at once.
  Option* add_option_function(std::string name,
                              const std::function<void(const std::vector<std::string>&)>& take,
                              std::string description);
  Option* add_flag(std::string name, bool& value, std::string description);
  void set_version_flag(const std::string& name, const std::string& version);
  void footer(std::string text);
  void column_width(size_t width);  // of the names of options in the help
  void require_subcommand();        // exactly one
  // Called when the command was chosen: at once when its own words are read, or at the end.
  void parse_complete_callback(std::function<void()> call);
  void callback(std::function<void()> call);

  Parsing parse(int argc, const char* const* argv);

  const std::string& get_name() const;
  std::string get_description() const;
  Option* get_option(const std::string& name);
  std::vector<const Option*> get_options() const;
  std::vector<const Command*> get_subcommands() const;
  std::vector<const Command*> chosen_subcommands() const;
  // Options as they were given, one entry for each time.
  std::vector<const Option*> parse_order() const;

 private:
  explicit Command(CLI::App* app);
  Option* Keep(CLI::Option* option);
  const Option& Kept(const CLI::Option* option) const;

  std::unique_ptr<CLI::App> program_;  // of the outermost one
  CLI::App* app_;
  std::deque<Option> options_;  // in the order they were added
  std::vector<std::unique_ptr<Command>> subcommands_;
};

}  // namespace beryl::cli
