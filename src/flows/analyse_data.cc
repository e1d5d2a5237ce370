#include "flows/analyse_data.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "datasets/datasets.h"
#include "flows/read_data.h"
#include "learn/predict.h"

namespace beryl::flows {
namespace {

// The data, its prediction by the profile, and where both come from.
struct AnalysedData {
  Dataset data;
  std::vector<Column> predicted;  // by run, or empty
  EnergyOrigin origin;
};

// `profile`: what predicts it is called.
AnalysedData Analyse(Dataset data, const std::optional<EnergyModel>& predictor,
                     const std::string& profile, std::vector<Note>& notes) {
  AnalysedData input;
  input.data = std::move(data);
  input.origin.data = input.data.name;
  input.origin.provenance = MakeProvenance({input.data.name}, profile);
  AddIncomplete(input.data.notes, "", input.origin.provenance);
  input.origin.measured =
      std::any_of(input.data.runs.begin(), input.data.runs.end(), [](const ModelRun& run) {
        return !run.measured.empty() && !std::isnan(run.measured.front());
      });
  std::vector<Note> of_data = input.data.notes;
  if (predictor) {
    input.predicted = learn::Predict(*predictor, input.data, of_data);
    input.origin.predicted_by = profile;
  }
  AppendNotes(of_data, notes);
  notes = std::move(of_data);
  return input;
}

Result<AnalysedData> ReadAnalysed(const DataRequest& asked, std::vector<Note>& notes) {
  std::optional<EnergyModel> predictor;
  if (!asked.profile.empty()) predictor = TRY(ReadDataProfile(asked.profile));
  auto data = TRY(ReadData(asked.path, false));
  TRY(KeepRuns(data, asked.model));
  return Analyse(std::move(data), predictor, asked.profile, notes);
}

// Completes the origin of a result.
EnergyOrigin OriginOf(AnalysedData input, const std::vector<Note>& notes,
                      const std::string& file = {}) {
  input.origin.notes = notes;
  if (!file.empty()) input.origin.provenance.sources.push_back(file);
  return std::move(input.origin);
}

Result<Tradeoff> TradeOff(AnalysedData input, const std::vector<ModelAccuracy>& accuracies,
                          const std::string& accuracy_file, const analyze::TradeoffOptions& options,
                          const std::vector<Note>& notes) {
  auto tradeoff = TRY(analyze::TradeOff(input.data, input.predicted, accuracies, options));
  tradeoff.origin = OriginOf(std::move(input), notes, accuracy_file);
  tradeoff.accuracy_file = accuracy_file;
  return tradeoff;
}

}  // namespace

Result<Breakdowns> BreakDown(const DataRequest& data, std::vector<Note>& notes) {
  auto input = TRY(ReadAnalysed(data, notes));
  auto models = TRY(analyze::BreakDown(input.data, input.predicted, notes));
  return Breakdowns{OriginOf(std::move(input), notes), std::move(models)};
}

Result<QueryCosts> CostQueries(const DataRequest& data, const ElectricityRequest& electricity,
                               analyze::CostOptions options, std::vector<Note>& notes) {
  options.electricity = TRY(ChooseElectricity(electricity, notes));
  auto input = TRY(ReadAnalysed(data, notes));
  auto costs = TRY(analyze::CostQueries(input.data, input.predicted, options));
  costs.origin = OriginOf(std::move(input), notes, electricity.grid);
  return costs;
}

Result<Tradeoff> TradeOff(const DataRequest& data, const std::string& accuracies,
                          const analyze::TradeoffOptions& options, std::vector<Note>& notes) {
  const auto text = TRY(ReadSmallFile(accuracies));
  const auto read = TRY(datasets::ReadAccuracies(text, accuracies, notes));
  auto input = TRY(ReadAnalysed(data, notes));
  return TradeOff(std::move(input), read, accuracies, options, notes);
}

Result<Tradeoff> TradeOff(DataWithAccuracies given, const std::string& model,
                          const analyze::TradeoffOptions& options, std::vector<Note>& notes) {
  if (given.profile) TRY(learn::CheckPredictsData(*given.profile));
  TRY(KeepRuns(given.data, model));
  auto input = Analyse(std::move(given.data), given.profile,
                       given.profile ? given.profile->name : std::string(), notes);
  return TradeOff(std::move(input), given.accuracies, given.accuracy_file, options, notes);
}

}  // namespace beryl::flows
