#include "flows/run_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "datasets/datasets.h"
#include "flows/account_run.h"
#include "flows/give_model.h"
#include "store/store.h"
#include "tree/tree.h"

namespace beryl::flows {
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
  TRY(GiveModel({.model = model}, run));
  const ModelAlignment& alignment = run.model->alignment;
  if (alignment.matched_modules == 0 || !alignment.passes) {
    return InvalidError(
        fmt::format("{}: it has no module of {}; a trace has modules if it was recorded with "
                    "with_stack=True, and the model given must be the one that ran",
                    file, model),
        {"model"});
  }
  const TreeColumns pass =
      tree::ForwardPass(run.input.ops, run.footprint, time, run.built, *run.model);
  ModelRun described =
      datasets::RunOfAccounting(model, pass.tree, pass.columns, *pass.Find("time"));
  const auto batch_size = static_cast<double>(alignment.input.batch);
  const auto seq_len = static_cast<double>(alignment.input.seq);
  described.batch_size = KnownSize(batch_size);
  described.seq_len = KnownSize(seq_len);
  // Learning from descriptions needs one pass, not the two phases of a generation.
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
    row[static_cast<size_t>(Feature::kBatchSize)] = described.batch_size.value_or(kUnknown);
    row[static_cast<size_t>(Feature::kSeqLen)] = described.seq_len.value_or(kUnknown);
    if (described.seq_len) row[static_cast<size_t>(Feature::kInputSize)] = batch_size * seq_len;
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
          fmt::format("model '{}': {} has a model already", text, named ? run : "every run"),
          {"model"});
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
          fmt::format("model '{}={}': {} has no run {}.beryl", run, model, path, run), {"model"});
    }
  }
  for (const std::string& file : files) {
    auto input = TRY(ReadRunFiles(file));
    RunOptions options;
    // What is learned is the machine, and a meter at the wall reads all of it.
    options.energy_of = EnergyOf::kMachine;
    bool wall = false;
    for (const PowerChannel& channel : input.power.channels) {
      if (!IsContainer(channel.scope)) continue;
      wall = true;
      options.account.feeds[channel.name] = {"all"};
    }
    if (!wall) {
      Note no_wall(NoteKind::kRunWithoutWallMeter);
      no_wall.first = file;
      CountNote(data.notes, no_wall);
    }
    auto run = AccountRun(std::move(input), options);
    if (!run) return ErrorOf(file, run.error());
    AppendNotes(data.notes, MissingInput(*run));
    const OpTrace& ops = run->input.ops;
    const auto time = account::ShareTime(run->input.power, ops, options.account);
    if (!time) return ErrorOf(file, time.error());
    const std::string name = fs::path(file).stem().string();
    const auto model = models.contains(name) ? models.find(name) : models.find("");
    if (model != models.end()) {
      auto described = TRY(OfModel(file, model->second, *time, *run));
      data.runs.push_back(std::move(described));
      continue;
    }
    data.runs.push_back(datasets::RunOfAccounting(name, run->built.tree,
                                                  tree::Columns(ops, run->footprint, run->built),
                                                  tree::Columns(ops, *time, run->built).front()));
  }
  return data;
}

}  // namespace beryl::flows
