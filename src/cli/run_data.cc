#include "cli/run_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "cli/model_of_run.h"
#include "cli/pipeline.h"
#include "learn/learn.h"
#include "store/store.h"
#include "tree/tree.h"

namespace beryl::cli {
namespace {

namespace fs = std::filesystem;

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

// One forward pass of the model that ran.
Result<ModelRun> OfModel(const std::string& file, const std::string& model, const Footprint& time,
                         AccountedRun& run) {
  RunModelArguments arguments;
  arguments.described.model = model;
  if (auto ok = GiveModel(arguments, run); !ok) return ok.error();
  const ModelAlignment& alignment = run.model->alignment;
  if (alignment.matched_modules == 0 || !alignment.passes) {
    return InvalidError(fmt::format(
        "{}: no module of {} was found in it; a trace has modules where it was taken with "
        "with_stack=True, and --model has to be what ran",
        file, model));
  }
  const TreeColumns pass =
      tree::ForwardPass(run.input.ops, run.footprint, time, run.built, *run.model);
  ModelRun described = learn::RunOfAccounting(model, pass.tree, pass.columns, *pass.Find("time"));
  described.batch_size = static_cast<double>(alignment.input.batch);
  described.seq_len = static_cast<double>(alignment.input.seq);
  // What is learned from descriptions is one pass, not the two kinds of a generation.
  if (alignment.input.prompt == 0) described.description = run.description;
  const std::pair<Feature, const char*> features[] = {{Feature::kFlops, "flops"},
                                                      {Feature::kMemBytes, "bytes"},
                                                      {Feature::kParameters, "parameters"}};
  for (const auto& [feature, column] : features) {
    const Column* values = pass.Find(column);
    for (NodeId node = 0; values != nullptr && node < described.tree.size(); ++node) {
      described.features[node][static_cast<size_t>(feature)] = values->total[node];
    }
  }
  for (FeatureRow& row : described.features) {
    row[static_cast<size_t>(Feature::kBatchSize)] = described.batch_size;
    row[static_cast<size_t>(Feature::kSeqLen)] = described.seq_len;
    row[static_cast<size_t>(Feature::kInputSize)] = described.batch_size * described.seq_len;
  }
  return described;
}

}  // namespace

bool IsRunFile(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  auto source = ByteSource::Open(path);
  if (!source) return false;
  const auto first = source->Peek(64);
  return first && store::IsRunFile(*first);
}

bool IsRunData(const std::string& path) { return !RunFilesOf(path).empty(); }

Result<ModelsOfRuns> ParseModelsOfRuns(const std::vector<std::string>& given) {
  ModelsOfRuns models;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    const bool named = equals != std::string::npos;
    const std::string run = named ? text.substr(0, equals) : "";
    if (!models.emplace(run, named ? text.substr(equals + 1) : text).second) {
      return MisuseError(
          fmt::format("--model '{}': {} has a model already", text, named ? run : "every run"));
    }
  }
  return models;
}

Result<Dataset> ReadRunData(const std::string& path, const ModelsOfRuns& models) {
  Dataset data;
  data.name = path;
  const std::vector<std::string> files = RunFilesOf(path);
  for (const auto& [run, model] : models) {
    const std::string& name = run;
    const bool is_there = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return name.empty() || fs::path(file).stem() == name;
    });
    if (!is_there) {
      return MisuseError(
          fmt::format("--model '{}={}': {} has no run {}.beryl", run, model, path, run));
    }
  }
  for (const std::string& file : files) {
    auto input = ReadRunFiles({file});
    if (!input) return input.error();
    PipelineOptions options;
    bool wall = false;
    for (const PowerChannel& channel : input->power.channels) {
      if (!IsContainer(channel.scope)) continue;
      wall = true;
      options.account.feeds[channel.name] = {"all"};
    }
    if (!wall) {
      Note no_wall(NoteKind::kRunWithoutWallMeter);
      no_wall.first = file;
      CountNote(data.notes, no_wall);
    }
    auto run = AccountRun(std::move(*input), options);
    if (!run) return Error{run.error().code, fmt::format("{}: {}", file, run.error().message)};
    const OpTrace& ops = run->input.ops;
    const auto time = account::ShareTime(run->input.power, ops, options.account);
    if (!time) return Error{time.error().code, fmt::format("{}: {}", file, time.error().message)};
    const std::string name = fs::path(file).stem().string();
    const auto model = models.contains(name) ? models.find(name) : models.find("");
    if (model != models.end()) {
      auto described = OfModel(file, model->second, *time, *run);
      if (!described) return described.error();
      data.runs.push_back(*std::move(described));
      continue;
    }
    data.runs.push_back(learn::RunOfAccounting(name, run->built.tree,
                                               tree::Columns(ops, run->footprint, run->built),
                                               tree::Columns(ops, *time, run->built).front()));
  }
  return data;
}

}  // namespace beryl::cli
