#include "cli/run_arguments.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/command_line.h"

namespace beryl::cli {
namespace {

Result<std::pair<std::string, std::string>> SplitAtEquals(const std::string& text,
                                                          const char* option,
                                                          const char* expected) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return MisuseError(fmt::format("{} '{}': expected {}", option, text, expected));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<bool> ReadAnchors(const RunArguments& arguments, account::AccountOptions& options) {
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

Result<bool> ReadIdlePower(const RunArguments& arguments, account::AccountOptions& options) {
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

Result<bool> ReadFeeds(const RunArguments& arguments, account::AccountOptions& options) {
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

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

// A file option that may be given several times, one file each.
void AddFiles(Command& command, const char* name, std::vector<std::string>& files,
              const char* what) {
  command.add_option(name, files, what)
      ->type_name("FILE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

// Files belong to the --rank they follow. Options are parsed one kind after the other, so the order
// they were written in has to be asked for.
void GroupByRank(const Command& command, RunArguments& arguments) {
  if (arguments.ranks.empty()) return;
  std::vector<std::string> ops;
  std::vector<std::string> power;
  size_t rank = 0;
  std::map<std::string, size_t> seen;
  for (const Option* option : command.parse_order()) {
    const std::string name = option->get_single_name();
    const size_t at = seen[name]++;
    if (name == "rank") {
      arguments.ranks[rank++].rank = option->results()[at];
    } else if (name == "ops") {
      (rank == 0 ? ops : arguments.ranks[rank - 1].ops).push_back(option->results()[at]);
    } else if (name == "power") {
      (rank == 0 ? power : arguments.ranks[rank - 1].power).push_back(option->results()[at]);
    }
  }
  arguments.ops = std::move(ops);
  arguments.power = std::move(power);
}

Result<std::vector<RankFiles>> Ranks(const RunArguments& arguments) {
  if (arguments.ranks.empty())
    return std::vector<RankFiles>{{"", arguments.ops, arguments.power, {}}};
  std::vector<RankFiles> ranks = arguments.ranks;
  if (!arguments.ops.empty()) {
    return MisuseError(fmt::format("--ops {} stands before the first --rank: whose is it?",
                                   arguments.ops.front()));
  }
  std::set<std::string> names;
  for (RankFiles& rank : ranks) {
    if (!names.insert(rank.rank).second) {
      return MisuseError(fmt::format("--rank {} is given twice", rank.rank));
    }
    if (rank.ops.empty()) return MisuseError(fmt::format("--rank {} has no --ops", rank.rank));
  }
  // Power before the first rank is that of the machine they all run on.
  ranks.front().shared_power = arguments.power;
  return ranks;
}

}  // namespace

void AddTreeOptions(Command& command, TreeArguments& arguments) {
  command
      .add_option("--depth", arguments.depth,
                  "Levels of the tree to show; default: all, of a table what fits a screen")
      ->type_name("N")
      ->check(NonNegativeNumber());
  command.add_option("--level", arguments.level, "The deepest level of the tree to show")
      ->check(IsMember({"model", "module", "ml", "math", "kernel"}));
  command
      .add_option("--columns", arguments.columns,
                  "Columns of the tree to show, by name: energy,time,power,flops,...")
      ->type_name("A,B,...");
}

void TakeTreeArguments(const TreeArguments& arguments, views::ViewOptions& view) {
  view.depth = arguments.depth;
  view.level = ParseLevel(arguments.level);
  for (const std::string_view name : Split(arguments.columns, ',')) {
    if (!name.empty()) view.columns.emplace_back(name);
  }
}

void AddInputOptions(Command& command, RunArguments& arguments) {
  command.add_option("RUN", arguments.runs, "Run file (beryl import makes it)");
  command
      .add_option_function(
          "--rank",
          [&arguments](const std::vector<std::string>& names) {
            arguments.ranks.resize(names.size());
          },
          "A rank of a distributed run: the --ops and --power that follow are its own")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  AddFiles(command, "--ops", arguments.ops, "Operation trace; may be given several times");
  AddFiles(command, "--power", arguments.power, "Power trace; may be given several times");
  std::vector<std::string> formats = {"auto"};
  for (const importers::FormatDescriptor& format : importers::Formats()) {
    formats.emplace_back(format.name);
  }
  command.add_option("--ops-format", arguments.ops_format, "Format of the operation traces")
      ->check(IsMember(formats))
      ->capture_default_str();
  command.parse_complete_callback([&command, &arguments] { GroupByRank(command, arguments); });
}

void AddReadingOptions(Command& command, RunArguments& arguments) {
  command
      .add_option("--wrap-uj", arguments.wrap_uj,
                  "Where energy counters go back to zero, in microjoules")
      ->type_name("X")
      ->check(PositiveNumber());
  command.add_option("--threads", arguments.threads, "Threads to read with; default: all CPUs")
      ->type_name("N")
      ->check(Range(1, 1024));
}

void AddAccountOptions(Command& command, RunArguments& arguments) {
  command
      .add_option("--policy", arguments.policy,
                  "Power between two readings of a gauge: the last one holds, or a straight line. "
                  "An energy "
                  "counter is always shared out exactly. auto: hold and exact")
      ->check(IsMember({"auto", "hold", "linear", "exact"}))
      ->capture_default_str();
  auto* offset =
      command
          .add_option("--clock-offset-us", arguments.clock_offset_us,
                      "Microseconds to add to operation times to get the power trace's clock")
          ->type_name("X");
  auto* align = command
                    .add_option("--align", arguments.align,
                                "start: put the first operation at the first power reading")
                    ->check(IsMember({"start"}))
                    ->excludes(offset);
  command
      .add_option("--anchor", arguments.anchors,
                  "The same moment on both clocks; two or more also fit the drift")
      ->type_name("OPS_US=POWER_US")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->excludes(offset)
      ->excludes(align);
  command
      .add_option(
          "--idle-power", arguments.idle_power,
          "Power a device draws doing nothing: tells its energy into a static and a dynamic part")
      ->type_name("[DEVICE=]WATTS")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--feed", arguments.feeds,
                  "Which devices' operations a channel's energy may go to (or all, none)")
      ->type_name("CHANNEL=DEVICE,...")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command.add_flag("--only-ours", arguments.only_ours,
                   "Of a recording: share out only what the watched processes used");
  AddReadingOptions(command, arguments);
}

void AddOutputOptions(Command& command, OutputArguments& arguments,
                      const std::vector<std::string>& formats) {
  command.add_option("--format", arguments.format, "Form of the result")
      ->check(IsMember(formats))
      ->capture_default_str();
  command.add_option("-o,--output", arguments.output, "Where to write it; - is standard output")
      ->type_name("FILE");
  command.add_option("--color", arguments.color, "Colour in a table")
      ->check(IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

Result<PipelineOptions> ReadOptions(const RunArguments& arguments) {
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
  options.only_ours = arguments.only_ours;
  options.account.align_starts = arguments.align == "start";
  for (auto* read : {&ReadAnchors, &ReadIdlePower, &ReadFeeds}) {
    if (auto ok = (*read)(arguments, options.account); !ok) return ok.error();
  }
  return options;
}

Result<bool> CheckFiles(const RunArguments& arguments, const std::string& output) {
  std::vector<std::string> inputs = arguments.runs;
  auto add = [&](const std::vector<std::string>& files) {
    inputs.insert(inputs.end(), files.begin(), files.end());
  };
  add(arguments.ops);
  add(arguments.power);
  for (const RankFiles& rank : arguments.ranks) {
    add(rank.ops);
    add(rank.power);
  }
  const size_t traces = inputs.size() - arguments.runs.size();
  if (inputs.empty()) {
    return MisuseError("nothing to read: name a run file, or --ops and --power (see --help)");
  }
  if (!arguments.runs.empty() && traces > 0) {
    return MisuseError(fmt::format(
        "unexpected '{}': a word without an option names a run file, and those go without --ops "
        "and --power",
        arguments.runs.front()));
  }
  if (arguments.runs.empty() && arguments.ops.empty() && arguments.ranks.empty()) {
    return MisuseError("--ops is missing: what the run did");
  }
  if (traces > 0 && arguments.power.empty() &&
      std::all_of(arguments.ranks.begin(), arguments.ranks.end(),
                  [](const RankFiles& rank) { return rank.power.empty(); })) {
    return MisuseError("--power is missing: what the meters read");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (IsSameFile(inputs[i], inputs[j])) {
        return MisuseError(fmt::format(
            "{} is given twice", inputs[i] == "-" ? std::string("standard input") : inputs[i]));
      }
    }
    if (output != "-" && std::filesystem::is_regular_file(output) &&
        IsSameFile(inputs[i], output)) {
      return MisuseError(
          fmt::format("-o {}: this is one of the inputs; name another file", output));
    }
  }
  return true;
}

Result<RunInput> ReadRunOf(const RunArguments& arguments, const PipelineOptions& options) {
  if (!arguments.runs.empty()) return ReadRunFiles(arguments.runs);
  auto ranks = Ranks(arguments);
  if (!ranks) return ranks.error();
  return ReadRun(*ranks, options);
}

Result<AccountedRun> AccountRunOf(const RunArguments& arguments, const PipelineOptions& options) {
  auto run = ReadRunOf(arguments, options);
  if (!run) return run.error();
  return AccountRun(std::move(*run), options);
}

Result<bool> ForEachRun(const RunArguments& arguments, const PipelineOptions& options,
                        const std::function<Result<bool>(AccountedRun)>& take) {
  RunArguments one = arguments;
  for (size_t i = 0; i < std::max<size_t>(1, arguments.runs.size()); ++i) {
    if (!arguments.runs.empty()) one.runs = {arguments.runs[i]};
    auto run = AccountRunOf(one, options);
    if (!run) return run.error();
    if (auto ok = take(std::move(*run)); !ok) return ok.error();
  }
  return true;
}

Result<std::vector<std::string>> LabelsOf(const RunArguments& arguments, const std::string& given) {
  std::vector<std::string> labels;
  const std::vector<std::string> files =
      arguments.runs.empty() ? std::vector<std::string>(1, "run") : arguments.runs;
  if (!given.empty()) {
    for (const std::string_view label : Split(given, ',')) labels.emplace_back(Trim(label));
    if (labels.size() != files.size() ||
        std::set<std::string>(labels.begin(), labels.end()).size() != labels.size() ||
        std::count(labels.begin(), labels.end(), "") > 0) {
      return MisuseError(fmt::format("--labels '{}': expected {} different labels, one a run",
                                     given, files.size()));
    }
    return labels;
  }
  // The shortest end of the paths that tells them all apart.
  for (int folders = 0; folders < 16; ++folders) {
    labels.clear();
    for (const std::string& file : files) {
      std::filesystem::path path = file;
      if (path.extension() == ".beryl") path.replace_extension();
      std::filesystem::path label = path.filename();
      for (int up = 0; up < folders && path.has_parent_path(); ++up) {
        path = path.parent_path();
        label = path.filename() / label;
      }
      labels.push_back(label.string());
    }
    if (std::set<std::string>(labels.begin(), labels.end()).size() == labels.size()) return labels;
  }
  for (size_t i = 0; i < labels.size(); ++i) labels[i] += fmt::format(" #{}", i + 1);
  return labels;
}

void ForgetOperations(AccountedRun& run) {
  run.input.ops.ops = {};
  run.input.ops.packed.reset();
}

std::vector<tree::RunToCompare> SidesOf(const std::vector<std::string>& labels,
                                        const std::vector<AccountedRun>& runs) {
  std::vector<tree::RunToCompare> sides;
  sides.reserve(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    sides.push_back({labels[i], &runs[i].input.ops, &runs[i].footprint, &runs[i].folded});
  }
  return sides;
}

}  // namespace beryl::cli
