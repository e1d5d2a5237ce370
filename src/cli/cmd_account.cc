#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/pipeline.h"
#include "cli/terminal.h"
#include "views/views.h"

namespace beryl::cli {
namespace {

constexpr const char* kDescription =
    "Say where a run's joules went: operation trace + power trace -> energy of every layer and "
    "operation";

constexpr const char* kFooter = R"(WHAT GOES IN
  --ops     what the run did: a PyTorch profiler trace (export_chrome_trace, plain or .gz) or a
            TensorFlow timeline. Recognised from the content. Several files are the steps of one run.
  --power   what the meters read, as CSV
                timestamp_us,device,power_w        a power gauge, or
                timestamp_us,device,energy_uj      an energy counter that may wrap
            or as JSON {"CPU:0": {"<timestamp_us>": watts, ...}, ...}. Times are microseconds since the
            epoch. Devices are CPU:0, DRAM:0, GPU:1, wall, psys. Several files, such as RAPL's
            counters and a GPU's gauge, are put together.

HOW IT IS SHARED OUT
  At each instant a device's power is shared equally among the operations at work on it. Of nested
  operations only the innermost is at work; those around it have the energy in their total.
  While no operation runs, energy is idle. Energy that no operation may claim is unattributed.
  For every device: operations + idle + unattributed = the integral of its power. Always printed.
  GPU:n feeds what ran on GPU:n; CPU:n and DRAM:n feed the host's operations; wall and psys
  feed nothing: what they do not contain is the rest of the box. --feed overrides this.

EXIT STATUS
  0 done   1 failed (unreadable input, clocks that do not meet)   2 wrong use

EXAMPLES
  beryl account --ops trace.json.gz --power power.csv
  beryl account --ops step0.json --ops step1.json --power power.csv --depth 3 --top 20
  beryl account --ops trace.json --power power.csv --align start --format html -o report.html
  beryl account --ops trace.json --power rapl.csv --power gpu.csv --format json | jq '.summary[:5]'
  beryl account --ops trace.json --power power.csv --idle-power CPU:0=18 --feed wall=all)";

struct AccountArguments {
  std::vector<std::string> ops;
  std::vector<std::string> power;
  std::string policy = "auto";
  std::string clock_offset_us;
  std::string align;
  std::vector<std::string> anchors;
  std::vector<std::string> idle_power;
  std::vector<std::string> feeds;
  std::string ops_format = "auto";
  double wrap_uj = 0;
  int depth = -1;
  int top = -1;
  std::string format = "table";
  std::string output = "-";
  std::string color = "auto";
  int threads = 0;
};

Result<std::pair<std::string, std::string>> SplitAtEquals(const std::string& text,
                                                          const char* option,
                                                          const char* expected) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return MisuseError(fmt::format("{} '{}': expected {}", option, text, expected));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<bool> ReadAnchors(const AccountArguments& arguments, account::AccountOptions& options) {
  for (const std::string& text : arguments.anchors) {
    auto parts = SplitAtEquals(text, "--anchor", "OPS_US=POWER_US");
    if (!parts) return parts.error();
    const auto local = ParseMicros(parts->first);
    const auto epoch = ParseMicros(parts->second);
    if (!local || !epoch) {
      return MisuseError(fmt::format("--anchor '{}': expected two numbers of microseconds", text));
    }
    options.anchors.push_back({*local, *epoch});
  }
  return true;
}

Result<bool> ReadIdlePower(const AccountArguments& arguments, account::AccountOptions& options) {
  for (const std::string& text : arguments.idle_power) {
    std::string channel = "all";
    std::string watts = text;
    if (text.find('=') != std::string::npos) {
      auto parts = SplitAtEquals(text, "--idle-power", "WATTS or DEVICE=WATTS");
      if (!parts) return parts.error();
      std::tie(channel, watts) = *parts;
    }
    const auto value = ParseNumber(watts);
    if (!value || *value < 0) {
      return MisuseError(fmt::format("--idle-power '{}': expected WATTS or DEVICE=WATTS", text));
    }
    options.idle_power[channel] = Watts{*value};
  }
  return true;
}

Result<bool> ReadFeeds(const AccountArguments& arguments, account::AccountOptions& options) {
  for (const std::string& text : arguments.feeds) {
    auto parts =
        SplitAtEquals(text, "--feed", "CHANNEL=DEVICE[,DEVICE...], CHANNEL=all or CHANNEL=none");
    if (!parts) return parts.error();
    for (const std::string_view device : Split(parts->second, ',')) {
      options.feeds[parts->first].emplace_back(device);
    }
  }
  return true;
}

Result<PipelineOptions> ReadOptions(const AccountArguments& arguments) {
  PipelineOptions options;
  options.import.format = arguments.ops_format;
  options.import.threads =
      arguments.threads > 0 ? arguments.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.account.threads = options.import.threads;
  if (arguments.wrap_uj > 0) options.power.wrap_uj = arguments.wrap_uj;
  if (arguments.policy == "hold") options.account.policy = account::Policy::kHold;
  if (arguments.policy == "linear") options.account.policy = account::Policy::kLinear;
  if (arguments.policy == "exact") options.account.policy = account::Policy::kExact;
  if (!arguments.clock_offset_us.empty()) {
    options.account.clock_offset = ParseMicros(arguments.clock_offset_us);
    if (!options.account.clock_offset) {
      return MisuseError(fmt::format("--clock-offset-us '{}': expected a number of microseconds",
                                     arguments.clock_offset_us));
    }
  }
  options.account.align_starts = arguments.align == "start";
  options.timeline = arguments.format == "html";
  for (auto* read : {&ReadAnchors, &ReadIdlePower, &ReadFeeds}) {
    if (auto ok = (*read)(arguments, options.account); !ok) return ok.error();
  }
  return options;
}

views::Format FormatOf(const std::string& name) {
  if (name == "json") return views::Format::kJson;
  if (name == "csv") return views::Format::kCsv;
  if (name == "html") return views::Format::kHtml;
  return views::Format::kTable;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

// The same file twice would count everything twice; and no input is overwritten.
Result<bool> CheckFiles(const AccountArguments& arguments) {
  std::vector<std::string> inputs = arguments.ops;
  inputs.insert(inputs.end(), arguments.power.begin(), arguments.power.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (IsSameFile(inputs[i], inputs[j])) {
        return MisuseError(fmt::format(
            "{} is given twice", inputs[i] == "-" ? std::string("standard input") : inputs[i]));
      }
    }
    if (arguments.output != "-" && std::filesystem::is_regular_file(arguments.output) &&
        IsSameFile(inputs[i], arguments.output)) {
      return MisuseError(
          fmt::format("-o {}: this is one of the inputs; name another file", arguments.output));
    }
  }
  return true;
}

int RunAccount(const AccountArguments& arguments) {
  if (auto ok = CheckFiles(arguments); !ok) return Fail(ok.error());
  auto options = ReadOptions(arguments);
  if (!options) return Fail(options.error());
  auto output = OutputFile::Open(arguments.output);
  if (!output) return Fail(output.error());
  auto run = ReadRun(arguments.ops, arguments.power, *options);
  if (!run) return Fail(run.error());
  RunContext context;
  context.ops_files = arguments.ops;
  context.power_file = fmt::format("{}", fmt::join(arguments.power, ", "));
  auto report = MakeReport(*run, *options, std::move(context));
  if (!report) return Fail(report.error());

  views::ViewOptions view;
  if (arguments.depth >= 0) view.depth = arguments.depth;
  if (arguments.top >= 0) view.top = arguments.top;
  const bool to_stdout = arguments.output == "-";
  view.width = TerminalWidth(to_stdout);
  view.color = WantColor(arguments.color, to_stdout);
  const std::string text = views::Write(*report, FormatOf(arguments.format), view);
  if (auto ok = output->Commit(text); !ok) return Fail(ok.error());
  // What a reader has to know and CSV has no place for, or what now lies in a file, is said here.
  if (arguments.format == "csv" || (!to_stdout && arguments.format != "table")) {
    view.width = TerminalWidth(false);
    view.color = false;
    fmt::print(stderr, "{}", views::Write(*report, views::Format::kSummary, view));
  }
  return kSuccess;
}

}  // namespace

void AddAccountCommand(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<AccountArguments>();
  CLI::App* command = app.add_subcommand("account", kDescription);
  command->footer(kFooter);
  command->add_option("--ops", arguments->ops, "Operation trace; may be given several times")
      ->required()
      ->type_name("FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--power", arguments->power, "Power trace; may be given several times")
      ->required()
      ->type_name("FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--policy", arguments->policy,
                   "Power between two readings of a gauge: the last one holds, or a straight line. "
                   "An energy "
                   "counter is always shared out exactly. auto: hold and exact")
      ->check(CLI::IsMember({"auto", "hold", "linear", "exact"}))
      ->capture_default_str();
  auto* offset =
      command
          ->add_option("--clock-offset-us", arguments->clock_offset_us,
                       "Microseconds to add to operation times to get the power trace's clock")
          ->type_name("X");
  auto* align = command
                    ->add_option("--align", arguments->align,
                                 "start: put the first operation at the first power reading")
                    ->check(CLI::IsMember({"start"}))
                    ->excludes(offset);
  command
      ->add_option("--anchor", arguments->anchors,
                   "The same moment on both clocks; two or more also fit the drift")
      ->type_name("OPS_US=POWER_US")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->excludes(offset)
      ->excludes(align);
  command
      ->add_option(
          "--idle-power", arguments->idle_power,
          "Power a device draws doing nothing: tells its energy into a static and a dynamic part")
      ->type_name("[DEVICE=]WATTS")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--feed", arguments->feeds,
                   "Which devices' operations a channel's energy may go to (or all, none)")
      ->type_name("CHANNEL=DEVICE,...")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--wrap-uj", arguments->wrap_uj,
                   "Where energy counters go back to zero, in microjoules")
      ->type_name("X")
      ->check(CLI::PositiveNumber);
  std::vector<std::string> formats = {"auto"};
  for (const importers::FormatDescriptor& format : importers::Formats()) {
    formats.emplace_back(format.name);
  }
  command->add_option("--ops-format", arguments->ops_format, "Format of the operation traces")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command->add_option("--depth", arguments->depth, "Levels of the tree to show")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  command
      ->add_option("--top", arguments->top,
                   "Operations to list (10 in a table; all in json and csv unless given)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--format", arguments->format, "Form of the result")
      ->check(CLI::IsMember({"table", "json", "csv", "html"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output, "Where to write it; - is standard output")
      ->type_name("FILE");
  command->add_option("--color", arguments->color, "Colour in a table")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads to read with; default: all CPUs")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->callback([arguments, &exit_code] { exit_code = RunAccount(*arguments); });
}

}  // namespace beryl::cli
