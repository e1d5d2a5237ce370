// Reads the data sets that users name, and predicts them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/prediction.h"

namespace beryl::flows {

// Measured features, trees as JSON lines, or run files (flows/run_data.h). `models`: which model
// each run file ran.
Result<Dataset> ReadData(const std::string& path, bool needs_energy,
                         const std::vector<std::string>& models = {});

// Keeps the runs of `model` (empty: all) with that input size (empty: any). If none remain, the
// error lists the available ones.
Status KeepRuns(Dataset& data, const std::string& model, std::optional<double> batch_size = {},
                std::optional<double> seq_len = {});

// As ReadProfile (flows/find_model.h), but refuses profiles that predict descriptions only.
Result<EnergyModel> ReadDataProfile(const std::string& profile);

// Which runs of which data to predict, and with which profile.
struct DataToPredict {
  std::string path;
  std::string profile;
  std::string model = {};  // empty: all
  std::optional<double> batch = {};
  std::optional<double> seq = {};
};
Result<PredictionReport> PredictData(const DataToPredict& asked);
// Its trees as JSON lines, with the predicted energy.
std::string WriteTrees(const PredictionReport& report);

// Reads a small file that a person wrote, such as a table of figures.
Result<std::string> ReadSmallFile(const std::string& path);

}  // namespace beryl::flows
