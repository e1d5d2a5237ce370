// Analyses of a data set: which parts take its models' energy, what queries cost, what accuracy
// costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "base/result.h"
#include "flows/electricity.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/energy_use.h"
#include "types/note.h"

namespace beryl::flows {

struct DataRequest {
  std::string path;
  std::string model = {};    // the only one to use; empty: all
  std::string profile = {};  // predicts them; empty: only what was measured
};

// All of these add the notes of the data to `notes` even if they fail, because the notes may be the
// reason.
Result<Breakdowns> BreakDown(const DataRequest& data, std::vector<Note>& notes);
Result<QueryCosts> CostQueries(const DataRequest& data, const ElectricityRequest& electricity,
                               analyze::CostOptions options, std::vector<Note>& notes);
// The same of what was read already. `model`: as in a DataRequest.
struct DataWithAccuracies {
  Dataset data;
  std::optional<EnergyModel> profile = {};  // predicts it, under its name
  std::vector<ModelAccuracy> accuracies;
  std::string accuracy_file = {};  // where they are from
};
Result<Tradeoff> TradeOff(DataWithAccuracies input, const std::string& model,
                          const analyze::TradeoffOptions& options, std::vector<Note>& notes);
// `accuracies`: a CSV of models and accuracies.
Result<Tradeoff> TradeOff(const DataRequest& data, const std::string& accuracies,
                          const analyze::TradeoffOptions& options, std::vector<Note>& notes);

}  // namespace beryl::flows
