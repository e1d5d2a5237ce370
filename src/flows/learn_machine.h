// Trains, calibrates and evaluates models of a machine's energy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/train.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/evaluation.h"
#include "types/note.h"
#include "types/prediction.h"

namespace beryl::flows {

// Measured data, as for ReadData (flows/read_data.h).
struct TrainingData {
  std::string path;
  std::vector<std::string> models = {};  // which model each run file ran
};

// Adds the costs of operations, which predict from descriptions, if the data's models are known.
Result<EnergyModel> TrainMachine(Dataset& data, const learn::TrainOptions& options);
// The same, with where it comes from. `machine`: its name.
Result<EnergyModel> TrainMachine(Dataset& data, const learn::TrainOptions& options,
                                 const std::string& machine);
// Adds the notes of the data to `notes` even if it fails.
Result<EnergyModel> TrainMachine(const TrainingData& from, const learn::TrainOptions& options,
                                 const std::string& machine, std::vector<Note>& notes);

// Leaves out one model, family or size of the data at a time or, if `test` is not empty, predicts
// the models of that data.
Result<Evaluation> EvaluateMethod(Dataset data, std::optional<Dataset> test,
                                  const learn::TrainOptions& options, uint64_t seeds,
                                  FoldBy fold_by = FoldBy::kModel);
Result<Evaluation> EvaluateMethod(const std::string& path, const std::string& test,
                                  const learn::TrainOptions& options, uint64_t seeds,
                                  FoldBy fold_by = FoldBy::kModel);
// Evaluates every method with every set of features.
Result<Ablation> AblateMethods(const std::string& path, const learn::TrainOptions& options,
                               uint64_t seeds);

// Fits the law to `rows` measurements, `draws` times, and tests it on the others.
struct CalibrationPlan {
  uint64_t rows = 8;
  uint64_t seed = 0;
  uint64_t draws = 50;
};
Result<Calibration> CalibrateMachine(const TrainingData& from, const CalibrationPlan& plan);

}  // namespace beryl::flows
