#include "flows/read_data.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/text.h"
#include "datasets/datasets.h"
#include "flows/described_data.h"
#include "flows/find_model.h"
#include "flows/near_names.h"
#include "flows/run_data.h"
#include "learn/predict.h"

namespace beryl::flows {
namespace {

constexpr size_t kLargestSheet = size_t{16} << 20;
constexpr size_t kFewNames = 12;

}  // namespace

Result<Dataset> ReadData(const std::string& path, bool needs_energy,
                         const std::vector<std::string>& models) {
  if (IsRunData(path)) {
    const auto of_runs = TRY(ParseModelsOfRuns(models));
    return ReadRunData(path, of_runs);
  }
  if (!models.empty()) {
    return MisuseError(fmt::format("{}: a model is given, but this is no run file or folder of run "
                                   "files; data sets name their "
                                   "models",
                                   path),
                       {"model"});
  }
  datasets::DatasetOptions options;
  options.needs_energy = needs_energy;
  return datasets::ReadDataset(path, options);
}

Status KeepRuns(Dataset& data, const std::string& model, std::optional<double> batch_size,
                std::optional<double> seq_len) {
  const std::vector<std::string> models = ModelsOf(data);
  if (!model.empty() && std::count(models.begin(), models.end(), model) == 0) {
    return MisuseError(fmt::format("model '{}' is not in {}{}", Printable(model),
                                   Printable(data.name), NearNames(model, models)),
                       {"model"});
  }
  std::erase_if(data.runs,
                [&](const ModelRun& run) { return !model.empty() && run.model != model; });
  std::vector<std::string> sizes;
  for (const ModelRun& run : data.runs) {
    sizes.push_back(InputText(run));
  }
  std::erase_if(data.runs, [&](const ModelRun& run) {
    return (batch_size && run.batch_size != *batch_size) || (seq_len && run.seq_len != *seq_len);
  });
  if (!data.runs.empty() || sizes.empty()) return {};
  const size_t more = sizes.size() - std::min(sizes.size(), kFewNames);
  sizes.resize(sizes.size() - more);
  return MisuseError(fmt::format("{} has no run with that batch size and length; it has {}{}",
                                 Printable(data.name), fmt::join(sizes, ", "),
                                 more > 0 ? fmt::format(" and {} more", more) : ""));
}

Result<EnergyModel> ReadDataProfile(const std::string& profile) {
  auto model = TRY(ReadProfile(profile));
  TRY(learn::CheckPredictsData(model));
  return model;
}

Result<std::string> ReadSmallFile(const std::string& path) {
  auto source = TRY(ByteSource::Open(path));
  return ReadAll(source, kLargestSheet);
}

Result<PredictionReport> PredictData(const DataToPredict& asked) {
  auto model = TRY(ReadDataProfile(asked.profile));
  auto data = TRY(ReadData(asked.path, false));
  TRY(KeepRuns(data, asked.model, asked.batch, asked.seq));
  if (model.method == Method::kDescribe) DescribeRuns(data);
  PredictionReport report;
  report.provenance = MakeProvenance({asked.path}, model.name);
  report.notes = data.notes;
  report.predicted = learn::Predict(model, data, report.notes);
  report.model = std::move(model);
  report.data = std::move(data);
  return report;
}

std::string WriteTrees(const PredictionReport& report) {
  return datasets::WriteTrees(report.data, report.predicted);
}

}  // namespace beryl::flows
