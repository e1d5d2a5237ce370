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

Result<AnalysedData> ReadAnalysed(const DataRequest& asked, std::vector<Note>& notes) {
  AnalysedData input;
  std::optional<EnergyModel> predictor;
  if (!asked.profile.empty()) predictor = TRY(ReadDataProfile(asked.profile));
  input.data = TRY(ReadData(asked.path, false));
  TRY(KeepRuns(input.data, asked.model));
  input.origin.data = asked.path;
  input.origin.provenance = MakeProvenance({asked.path}, asked.profile);
  AddIncomplete(input.data.notes, "", input.origin.provenance);
  input.origin.measured =
      std::any_of(input.data.runs.begin(), input.data.runs.end(), [](const ModelRun& run) {
        return !run.measured.empty() && !std::isnan(run.measured.front());
      });
  std::vector<Note> of_data = input.data.notes;
  if (predictor) {
    input.predicted = learn::Predict(*predictor, input.data, of_data);
    input.origin.predicted_by = asked.profile;
  }
  AppendNotes(of_data, notes);
  notes = std::move(of_data);
  return input;
}

// Completes the origin of a result.
EnergyOrigin OriginOf(AnalysedData input, const std::vector<Note>& notes,
                      const std::string& file = {}) {
  input.origin.notes = notes;
  if (!file.empty()) input.origin.provenance.sources.push_back(file);
  return std::move(input.origin);
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
  auto tradeoff = TRY(analyze::TradeOff(input.data, input.predicted, read, options));
  tradeoff.origin = OriginOf(std::move(input), notes, accuracies);
  tradeoff.accuracy_file = accuracies;
  return tradeoff;
}

}  // namespace beryl::flows
