#include "cli/run_data.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "cli/pipeline.h"
#include "learn/learn.h"
#include "store/store.h"
#include "tree/tree.h"

namespace beryl::cli {
namespace {

namespace fs = std::filesystem;

bool IsRunFile(const std::string& path) {
  if (path == "-") return false;
  auto source = ByteSource::Open(path);
  if (!source) return false;
  const auto first = source->Peek(64);
  return first && store::IsRunFile(*first);
}

std::vector<std::string> RunFilesOf(const std::string& path) {
  std::error_code failed;
  std::vector<std::string> files;
  if (!fs::is_directory(path, failed)) {
    if (IsRunFile(path)) files.push_back(path);
    return files;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(path, failed)) {
    if (entry.path().extension() == ".beryl" && IsRunFile(entry.path().string())) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool IsRunData(const std::string& path) { return !RunFilesOf(path).empty(); }

Result<Dataset> ReadRunData(const std::string& path) {
  Dataset data;
  data.name = path;
  DataFinding no_wall{
      "a run without a wall or board meter: what is learned is the sum of its devices' meters", 0,
      ""};
  for (const std::string& file : RunFilesOf(path)) {
    auto input = ReadRunFiles({file});
    if (!input) return input.error();
    PipelineOptions options;
    bool wall = false;
    for (const PowerChannel& channel : input->power.channels) {
      if (!IsContainer(channel.scope)) continue;
      wall = true;
      options.account.feeds[channel.name] = {"all"};
    }
    if (!wall && no_wall.count++ == 0) no_wall.first = file;
    auto run = AccountRun(std::move(*input), options);
    if (!run) return Error{run.error().code, fmt::format("{}: {}", file, run.error().message)};
    const OpTrace& ops = run->input.ops;
    const auto time = account::ShareTime(run->input.power, ops, options.account);
    if (!time) return Error{time.error().code, fmt::format("{}: {}", file, time.error().message)};
    data.runs.push_back(learn::RunOfAccounting(fs::path(file).stem().string(), run->built.tree,
                                               tree::Columns(ops, run->footprint, run->built),
                                               tree::Columns(ops, *time, run->built).front()));
  }
  if (no_wall.count > 0) data.findings.push_back(no_wall);
  return data;
}

}  // namespace beryl::cli
