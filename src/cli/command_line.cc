#include "cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include "flows/output_check.h"

namespace beryl::cli {
namespace {

constexpr size_t kNameWidth = 34;  // width of option names in the help

template <typename T>
inline constexpr bool kIsList =
    std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<int>>;

Check NumberCheck(double least, const char* what) {
  return std::make_shared<CLI::Validator>(
      [=](const std::string& text) {
        const auto number = ParseNumber(text);
        const bool fits = number && (*number > 0 || *number >= least);
        return fits ? std::string() : "'" + text + "' is not a number " + what;
      },
      "");
}

std::pair<std::string, std::string> SplitName(const std::string& name) {
  const size_t space = name.find(' ');
  if (space == std::string::npos) return {name, ""};
  return {name.substr(0, space), name.substr(space + 1)};
}

// Most commands have the same exit status; the others state their own.
std::string WithExitStatus(std::string help) {
  if (help.find("EXIT STATUS") != std::string::npos) return help;
  const size_t examples = help.rfind("EXAMPLES");
  return help.insert(examples == std::string::npos ? help.size() : examples,
                     "EXIT STATUS\n  0 done   1 failed   2 usage error\n\n");
}

CommandSynopsis::Option SynopsisOf(const CLI::Option& option) {
  CommandSynopsis::Option synopsis;
  synopsis.description = option.get_description();
  synopsis.takes_value = option.get_items_expected_max() > 0;
  for (const std::string& name : option.get_lnames()) synopsis.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) synopsis.names.push_back("-" + name);
  const std::string type = option.get_type_name();  // "TEXT:{table,json}"
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open < close && close != std::string::npos) {
    for (const std::string_view word :
         Split(std::string_view(type).substr(open + 1, close - open - 1), ',')) {
      synopsis.words.emplace_back(word);
    }
  }
  return synopsis;
}

template <typename T>
bool HasDefault(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) return !value.empty();
  return std::is_arithmetic_v<T>;
}

}  // namespace

Check OneWordOf(std::vector<std::string> words) {
  // shared_ptr, because CLI11 copies a check several times at every start.
  return std::make_shared<CLI::IsMember>(
      std::make_shared<const std::vector<std::string>>(std::move(words)));
}
Check Between(int first, int last) { return std::make_shared<CLI::Range>(first, last); }
Check Between(double first, double last) { return std::make_shared<CLI::Range>(first, last); }
Check Above0() { return NumberCheck(1e-300, "above 0"); }
Check From0() { return NumberCheck(0, "of 0 or more"); }

Parameter Parameter::Required() const {
  option_->required();
  return *this;
}

Parameter Parameter::Needs(const Parameter& other) const {
  option_->needs(other.option_);
  return *this;
}

Parameter Parameter::Excludes(const std::vector<Parameter>& others) const {
  for (const Parameter& other : others) option_->excludes(other.option_);
  return *this;
}

Parameter Parameter::OrJust(const std::string& text) const {
  option_->expected(0, 1)->default_str(text);
  return *this;
}

Command::Command(const CommandText& text, const std::string& version)
    : owned_(std::make_unique<CLI::App>(text.line, text.name)), app_(owned_.get()), program_(this) {
  app_->set_version_flag("--version", version);
  app_->footer(WithExitStatus(text.help));
  app_->get_formatter()->column_width(kNameWidth);
}

Command::Command(CLI::App* app, Command* program) : app_(app), program_(program) {}

Command::~Command() = default;

Command& Command::Subcommand(const CommandText& text, const std::string& group) {
  app_->require_subcommand(1);
  CLI::App* app = app_->add_subcommand(text.name, text.line);
  app->group(group);
  app->footer(WithExitStatus(text.help));
  subcommands_.push_back(std::unique_ptr<Command>(new Command(app, program_)));  // private
  return *subcommands_.back();
}

Parameter Command::Add(const std::string& name, const Target& target, const std::string& help,
                       const Check& check, bool is_argument) {
  const std::pair<std::string, std::string> split = SplitName(name);
  CLI::Option* option = std::visit(
      [&](auto* value) {
        CLI::Option* added = app_->add_option(split.first, *value, help);
        if (is_argument) return added->type_name("");
        using Value = std::remove_pointer_t<decltype(value)>;
        if constexpr (kIsList<Value>) added->expected(1)->allow_extra_args(false)->take_all();
        if (HasDefault(*value)) added->capture_default_str();
        return added;
      },
      target);
  if (!split.second.empty()) option->type_name(split.second);
  if (check != nullptr) option->check(*check);
  return Parameter(option);
}

Parameter Command::OutputOption(const std::string& name, std::string& file,
                                const std::string& help) {
  const Parameter option = Option(name, file, help);
  outputs_.emplace_back(option.option_, &file);
  return option;
}

Parameter Command::Words(const std::string& name, std::vector<std::string>& words,
                         const std::string& help) {
  const Parameter argument = Argument(name, words, help);
  words_ = argument.option_;
  return argument;
}

Parameter Command::Flag(const std::string& name, bool& value, const std::string& help) {
  return Parameter(app_->add_flag(name, value, help));
}

Parameter Command::Word(const std::string& name, const std::vector<std::string>& words,
                        const std::string& otherwise, const std::string& help,
                        const std::function<void(const std::string&)>& take) {
  CLI::Option* option = app_->add_option_function<std::string>(name, take, help);
  option->check(*OneWordOf(words));
  if (!otherwise.empty()) option->default_str(otherwise);
  return Parameter(option);
}

void Command::WhenRead(std::function<void()> call) {
  app_->parse_complete_callback(std::move(call));
}

void Command::Run(std::function<Result<int>()> run) {
  app_->callback([this, run = std::move(run)] {
    const Status checked = CheckOutputs();
    program_->result_ = checked ? run() : Result<int>(checked.error());
  });
}

Status Command::CheckOutputs() const {
  const CLI::Option* const force = app_->get_option_no_throw("--force");
  for (const auto& [output, file] : outputs_) {
    std::vector<flows::GivenValue> others;
    for (const auto& place : also_reads_) others.push_back({place()});
    for (const CLI::Option* option : app_->get_options()) {
      if (option == output || option->get_items_expected_max() == 0) continue;
      // One of several words, free text, or a word of a program to run.
      const bool is_word = option == words_ || option->get_type_name().starts_with("TEXT");
      for (const std::string& value : option->results()) others.push_back({value, !is_word});
    }
    const bool is_short = !output->get_snames().empty();
    const std::string name =
        is_short ? "-" + output->get_snames().front() : "--" + output->get_lnames().front();
    TRY(flows::CheckOutput(name, *file, others));
    const bool is_forced = force != nullptr && force->count() > 0;
    if (!is_forced) TRY(flows::CheckTakesNoRun(name, *file, force != nullptr));
  }
  return {};
}

Command::Parsing Command::Parse(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 2) typed_.assign(argv + 2, argv + argc);
  for (const auto& command : subcommands_) {
    if (words.size() < 2 || command->app_->get_name() != words[1] || !command->keeps_separators_)
      continue;
    std::replace_if(
        words.begin() + 2, words.end(),
        [](const char* word) { return std::string_view(word) == "--"; }, kSeparator);
  }
  try {
    app_->parse(argc, words.data());
  } catch (const CLI::Success& answer) {
    return {.result = app_->exit(answer)};
  } catch (const CLI::ParseError& error) {
    return {.refusal = error.what()};
  }
  return {.result = result_};
}

CommandSynopsis Command::synopsis() const {
  CommandSynopsis synopsis = {app_->get_name(), app_->get_description()};
  for (const CLI::Option* option : app_->get_options()) {
    synopsis.options.push_back(SynopsisOf(*option));
  }
  return synopsis;
}

std::vector<CommandSynopsis> Command::subcommands() const {
  std::vector<CommandSynopsis> commands;
  for (const auto& command : subcommands_) commands.push_back(command->synopsis());
  return commands;
}

std::optional<CommandSynopsis> Command::chosen() const {
  const auto chosen = app_->get_subcommands();
  for (const auto& command : subcommands_) {
    if (chosen.empty() || command->app_ != chosen.front()) continue;
    auto deepest = command->chosen();
    if (!deepest) return command->synopsis();
    deepest->name.insert(0, command->app_->get_name() + " ");
    return deepest;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Command::GivenInOrder() const {
  std::vector<std::pair<std::string, std::string>> given;
  std::map<const CLI::Option*, size_t> seen;
  for (const CLI::Option* option : app_->parse_order()) {
    const size_t at = seen[option]++;
    const auto& values = option->results();
    given.emplace_back(option->get_single_name(), at < values.size() ? values[at] : "");
  }
  return given;
}

void Say(std::string_view lines) { fmt::print(stderr, "{}", PrintableLines(lines)); }

int Fail(const Error& error) {
  std::string flags = fmt::format("{}", fmt::join(error.options, ", --"));
  std::replace(flags.begin(), flags.end(), '_', '-');
  Say("beryl: {}{}\n", PrintableMessage(error.message),
      flags.empty() ? "" : fmt::format(" (--{})", flags));
  return error.code == ErrorCode::kMisuse ? kMisuse : kFailure;
}

}  // namespace beryl::cli
