#include "flows/run_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace beryl::flows {
namespace {

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

bool AllDiffer(const std::vector<std::string>& words) {
  return std::set<std::string>(words.begin(), words.end()).size() == words.size();
}

Status CheckRanks(const RunFiles& files) {
  if (files.ranks.empty()) return {};
  if (!files.ops.empty()) {
    return MisuseError(fmt::format("operation trace {} belongs to no rank: it comes before the "
                                   "first; put it after its rank",
                                   files.ops.front()),
                       {"ops", "rank"});
  }
  std::set<std::string> names;
  for (const RankFiles& rank : files.ranks) {
    if (!names.insert(rank.rank).second) {
      return MisuseError(fmt::format("rank {} is given twice", rank.rank), {"rank"});
    }
    if (rank.ops.empty())
      return MisuseError(fmt::format("rank {} has no operation trace", rank.rank), {"ops"});
  }
  return {};
}

// The file name of a path with so many of its parent folders.
std::string EndOf(const std::string& run, int folders) {
  const std::vector<std::string> files = FilesOfRun(run);
  if (files.size() > 1) {
    std::vector<std::string> ends;
    for (const std::string& file : files) ends.push_back(EndOf(file, folders));
    return fmt::format("{}", fmt::join(ends, "+"));
  }
  std::filesystem::path path = run;
  if (path.extension() == ".beryl") path.replace_extension();
  std::filesystem::path end = path.filename();
  for (int up = 0; up < folders && path.has_parent_path(); ++up) {
    path = path.parent_path();
    end = path.filename() / end;
  }
  return end.string();
}

}  // namespace

std::vector<std::string> RunFiles::All() const {
  std::vector<std::string> all;
  auto add = [&](const std::vector<std::string>& files) {
    all.insert(all.end(), files.begin(), files.end());
  };
  for (const std::string& run : runs) add(FilesOfRun(run));
  add(ops);
  add(power);
  for (const RankFiles& rank : ranks) {
    add(rank.ops);
    add(rank.power);
  }
  return all;
}

RunFiles GroupByRank(const std::vector<std::pair<std::string, std::string>>& given) {
  RunFiles files;
  for (const auto& [name, value] : given) {
    const bool first = files.ranks.empty();
    if (name == "rank") files.ranks.push_back({value, {}, {}, {}});
    if (name == "ops") (first ? files.ops : files.ranks.back().ops).push_back(value);
    if (name == "power") (first ? files.power : files.ranks.back().power).push_back(value);
  }
  return files;
}

Status CheckRunFiles(const RunFiles& files) {
  const std::vector<std::string> inputs = files.All();
  const bool traces = !files.ops.empty() || !files.power.empty() || !files.ranks.empty();
  if (inputs.empty()) {
    return MisuseError("nothing to read: name a run file, or an operation trace and a power trace",
                       {"ops", "power", "help"});
  }
  if (!files.runs.empty() && traces) {
    return MisuseError(
        fmt::format(
            "unexpected run file '{}': run files cannot be combined with operation traces and "
            "power traces",
            files.runs.front()),
        {"ops", "power"});
  }
  if (files.runs.empty() && files.ops.empty() && files.ranks.empty()) {
    return MisuseError("the operation trace of the run is missing", {"ops"});
  }
  if (traces && files.power.empty() &&
      std::all_of(files.ranks.begin(), files.ranks.end(),
                  [](const RankFiles& rank) { return rank.power.empty(); })) {
    return MisuseError("the power trace of the run is missing: the readings of the meters",
                       {"power"});
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!IsSameFile(inputs[i], inputs[j])) continue;
      return MisuseError(fmt::format("{} is given twice",
                                     inputs[i] == "-" ? std::string("standard input") : inputs[i]));
    }
  }
  return CheckRanks(files);
}

Status CheckOneRun(const RunFiles& files) {
  TRY(CheckRunFiles(files));
  if (files.runs.size() < 2) return {};
  return MisuseError(fmt::format(
      "{} runs are given, where one is expected; the ranks of one run are joined by +, {}; beryl "
      "compare shows several runs side by side",
      files.runs.size(), fmt::join(files.runs, "+")));
}

Result<RunInput> ReadRunOf(const RunFiles& files, const RunOptions& options) {
  if (!files.runs.empty()) return ReadRunFiles(files.runs.front());
  std::vector<RankFiles> ranks = files.ranks;
  if (ranks.empty()) {
    ranks.push_back({"", files.ops, files.power, {}});
  } else {
    ranks.front().shared_power = files.power;
  }
  return ReadRun(ranks, options);
}

Result<AccountedRun> AccountRunOf(const RunFiles& files, const RunOptions& options) {
  auto input = TRY(ReadRunOf(files, options));
  return AccountRun(std::move(input), options);
}

Status ForEachRun(const RunFiles& files, const RunOptions& options,
                  const std::function<Status(AccountedRun)>& take) {
  RunFiles one = files;
  for (size_t i = 0; i < std::max<size_t>(1, files.runs.size()); ++i) {
    if (!files.runs.empty()) one.runs = {files.runs[i]};
    auto run = TRY(AccountRunOf(one, options));
    TRY(take(std::move(run)));
  }
  return {};
}

Result<std::vector<std::string>> LabelRuns(const std::vector<std::string>& files,
                                           const std::string& given) {
  std::vector<std::string> labels;
  const size_t runs = std::max<size_t>(1, files.size());
  if (!given.empty()) {
    for (const std::string_view label : Split(given, ',')) labels.emplace_back(Trim(label));
    if (labels.size() != runs || !AllDiffer(labels) ||
        std::count(labels.begin(), labels.end(), "") > 0) {
      return MisuseError(
          fmt::format("labels '{}': expected {} different labels, one per run", given, runs),
          {"labels"});
    }
    return labels;
  }
  if (files.empty()) return std::vector<std::string>{"run"};
  for (int folders = 0; folders < 16; ++folders) {
    labels.clear();
    for (const std::string& file : files) labels.push_back(EndOf(file, folders));
    if (AllDiffer(labels)) return labels;
  }
  for (size_t i = 0; i < labels.size(); ++i) labels[i] += fmt::format(" #{}", i + 1);
  return labels;
}

}  // namespace beryl::flows
