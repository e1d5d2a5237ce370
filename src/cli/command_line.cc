#include "cli/command_line.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

namespace beryl::cli {

Check::Check(const std::function<std::string(const std::string& value)>& problem)
    : validator_(std::make_shared<CLI::Validator>(problem, "")) {}

Check IsMember(std::vector<std::string> words) {
  // It copies what it is given several times, at every start.
  return Check(std::make_shared<CLI::IsMember>(
      std::make_shared<const std::vector<std::string>>(std::move(words))));
}
Check Range(int first, int last) { return Check(std::make_shared<CLI::Range>(first, last)); }
Check Range(double first, double last) { return Check(std::make_shared<CLI::Range>(first, last)); }
Check PositiveNumber() { return Check(std::make_shared<CLI::Range>(CLI::PositiveNumber)); }
Check NonNegativeNumber() { return Check(std::make_shared<CLI::Range>(CLI::NonNegativeNumber)); }

Option* Option::type_name(std::string name) {
  option_->type_name(std::move(name));
  return this;
}

Option* Option::default_str(std::string text) {
  option_->default_str(std::move(text));
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::expected(int count) {
  option_->expected(count);
  return this;
}

Option* Option::expected(int least, int most) {
  option_->expected(least, most);
  return this;
}

Option* Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return this;
}

Option* Option::take_all() {
  option_->take_all();
  return this;
}

Option* Option::check(const Check& check) {
  option_->check(check.validator());
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

const std::vector<std::string>& Option::get_lnames() const { return option_->get_lnames(); }
const std::vector<std::string>& Option::get_snames() const { return option_->get_snames(); }
const std::string& Option::get_single_name() const { return option_->get_single_name(); }
std::string Option::get_type_name() const { return option_->get_type_name(); }
const std::string& Option::get_description() const { return option_->get_description(); }
bool Option::takes_value() const { return option_->get_type_size() != 0; }
size_t Option::count() const { return option_->count(); }
const std::vector<std::string>& Option::results() const { return option_->results(); }

Command::Command(const std::string& description, const std::string& name)
    : program_(std::make_unique<CLI::App>(description, name)), app_(program_.get()) {
  Keep(app_->get_help_ptr());
}

Command::Command(CLI::App* app) : app_(app) { Keep(app_->get_help_ptr()); }

Command::~Command() = default;

Option* Command::Keep(CLI::Option* option) { return &options_.emplace_back(option); }

const Option& Command::Kept(const CLI::Option* option) const {
  return *std::find_if(options_.begin(), options_.end(),
                       [&](const Option& kept) { return kept.option_ == option; });
}

Command* Command::add_subcommand(std::string name, std::string description) {
  CLI::App* app = app_->add_subcommand(std::move(name), std::move(description));
  subcommands_.push_back(std::unique_ptr<Command>(new Command(app)));  // its constructor is private
  return subcommands_.back().get();
}

template <OptionValue T>
Option* Command::add_option(std::string name, T& value, std::string description) {
  return Keep(app_->add_option(std::move(name), value, std::move(description)));
}

// Those of OptionValue.
template Option* Command::add_option(std::string, std::string&, std::string);
template Option* Command::add_option(std::string, int&, std::string);
template Option* Command::add_option(std::string, int64_t&, std::string);
template Option* Command::add_option(std::string, uint32_t&, std::string);
template Option* Command::add_option(std::string, uint64_t&, std::string);
template Option* Command::add_option(std::string, double&, std::string);
template Option* Command::add_option(std::string, std::optional<int>&, std::string);
template Option* Command::add_option(std::string, std::optional<double>&, std::string);
template Option* Command::add_option(std::string, std::vector<std::string>&, std::string);
template Option* Command::add_option(std::string, std::vector<int>&, std::string);

Option* Command::add_option_function(
    std::string name, const std::function<void(const std::vector<std::string>&)>& take,
    std::string description) {
  return Keep(app_->add_option_function<std::vector<std::string>>(std::move(name), take,
                                                                  std::move(description)));
}

Option* Command::add_flag(std::string name, bool& value, std::string description) {
  return Keep(app_->add_flag(std::move(name), value, std::move(description)));
}

void Command::set_version_flag(const std::string& name, const std::string& version) {
  Keep(app_->set_version_flag(name, version));
}

void Command::footer(std::string text) { app_->footer(std::move(text)); }
void Command::column_width(size_t width) { app_->get_formatter()->column_width(width); }
void Command::require_subcommand() { app_->require_subcommand(1); }

void Command::parse_complete_callback(std::function<void()> call) {
  app_->parse_complete_callback(std::move(call));
}

void Command::callback(std::function<void()> call) { app_->callback(std::move(call)); }

Parsing Command::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& answer) {
    app_->exit(answer);
    return {Parsing::Outcome::kAnswered, ""};
  } catch (const CLI::ParseError& error) {
    return {Parsing::Outcome::kRefused, error.what()};
  }
  return {};
}

const std::string& Command::get_name() const { return app_->get_name(); }
std::string Command::get_description() const { return app_->get_description(); }

Option* Command::get_option(const std::string& name) {
  return const_cast<Option*>(&Kept(app_->get_option(name)));
}

std::vector<const Option*> Command::get_options() const {
  std::vector<const Option*> options;
  for (const Option& option : options_) options.push_back(&option);
  return options;
}

std::vector<const Command*> Command::get_subcommands() const {
  std::vector<const Command*> commands;
  for (const auto& command : subcommands_) commands.push_back(command.get());
  return commands;
}

std::vector<const Command*> Command::chosen_subcommands() const {
  std::vector<const Command*> chosen;
  for (const CLI::App* app : app_->get_subcommands()) {
    for (const auto& command : subcommands_) {
      if (command->app_ == app) chosen.push_back(command.get());
    }
  }
  return chosen;
}

std::vector<const Option*> Command::parse_order() const {
  std::vector<const Option*> options;
  for (const CLI::Option* option : app_->parse_order()) options.push_back(&Kept(option));
  return options;
}

}  // namespace beryl::cli
