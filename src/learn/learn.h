// Learning: from runs with measured energy to a model of a machine's energy, from that to the
// energy of nodes that were never metered, and how far to trust it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/described_prediction.h"
#include "types/energy_model.h"
#include "types/energy_use.h"
#include "types/evaluation.h"
#include "types/prediction.h"

namespace beryl::learn {

// Reads a data set: a folder with IrEne's ml1_level_features.csv, ml2_..., module_... and
// model_level_features.csv, one such CSV, or the authors' trees as JSON lines (by content, not by
// name). Trees are rebuilt from scopes. A row that cannot be used (text for a number, NaN, energy
// that is not positive, a duplicate) is left out and found in Dataset::notes; a missing column
// or a file that is none of these is an error. Without `needs_energy`, rows may have none.
struct DatasetOptions {
  bool needs_energy = true;
};
Result<Dataset> ReadDataset(const std::string& path, const DatasetOptions& options);
// The same from text that is in memory, for JSON lines.
Result<Dataset> ReadTrees(ByteSource& source, const DatasetOptions& options);

// A run that was accounted, as data to learn from: operations, and modules with all that is in
// them. `energy` are the columns of its tree, `seconds` a column of wall time (account::ShareTime).
// GPU and CPU channels become the features of the law; what is learned is the sum of all channels.
ModelRun RunOfAccounting(std::string model, const ModelTree& tree,
                         const std::vector<Column>& energy, const Column& seconds);

// The authors' JSON lines, a run a line. `predicted` are joules by run and node, or empty; NaN is
// left out, and so are runs whose model has no row of its own.
std::string WriteTrees(const Dataset& data, const std::vector<Column>& predicted);

// An EnergyModel as a file that a person can read, and back. Refuses what is damaged or not one,
// with the reason.
std::string WriteEnergyModel(const EnergyModel& model);
Result<EnergyModel> ReadEnergyModel(std::string text, const std::string& name);

// The profiles that ship with the program, and one of them by name: those that were trained, then
// those by datasheet, which tell from descriptions alone (PredictDescription).
std::vector<std::string> ProfileNames();
std::optional<EnergyModel> FindProfile(std::string_view name);

struct TrainOptions {
  Method method = Method::kLaw;
  FeatureSet features = FeatureSet::kAll;
  uint64_t seed = 0;
  int epochs = 8;
  double pue = 1.58;  // of the baseline: power usage effectiveness, as Strubell et al. took it
  double nominal = 0.9;
  int threads = 0;       // 0: as many as there are cores
  bool bands = true;     // calibrate intervals by leaving out one model at a time
  bool seconds = false;  // method describe: learn the time of nodes too
};
// Fails where the data has not what the method needs.
Result<EnergyModel> Train(const Dataset& data, const TrainOptions& options);

// What keeps a model from predicting data: that it is a datasheet. The error says what to do.
Result<bool> CheckPredictsData(const EnergyModel& model);

// A column for each run, with low and high where the model has bands. NaN: it could not be
// predicted; `notes` says why.
std::vector<Column> Predict(const EnergyModel& model, const Dataset& data,
                            std::vector<Note>& notes);

// The same for models that were never run: energy and, where the profile knows it, time of every
// node of a description. What has to be worked out of the profile is worked out once.
class DescriptionPredictor {
 public:
  explicit DescriptionPredictor(const EnergyModel& model);  // which outlives this
  ~DescriptionPredictor();
  DescriptionPredictor(const DescriptionPredictor&) = delete;
  DescriptionPredictor& operator=(const DescriptionPredictor&) = delete;

  // Fails where the profile cannot tell from a description.
  Result<DescribedPrediction> Predict(Description description) const;

 private:
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

// Leaves out one model at a time; with `test`, trains on `data` and tests on the models of that.
Result<Evaluation> Evaluate(const Dataset& data, const Dataset* test, const TrainOptions& options,
                            uint64_t seeds);

// Every method with every set of features that it can use, leaving out one model at a time.
// `options` says the rest.
Result<Ablation> Ablate(const Dataset& data, const TrainOptions& options, uint64_t seeds);

// Fits the law to `rows` ML-level rows drawn at random, and tests it on everything else, `draws`
// times.
Result<Calibration> Calibrate(const Dataset& data, uint64_t rows, uint64_t seed, uint64_t draws);

// --- What models use energy for. `predicted` are the columns of Predict, by run, or empty: then
// what was measured is all there is. Of neither, an error.

// Where the energy of each model goes, over all its input sizes.
Result<std::vector<Breakdown>> BreakDown(const Dataset& data, const std::vector<Column>& predicted,
                                         std::vector<Note>& notes);

// The table of prices and emissions that ships with the program, and any of its form.
std::string_view BundledElectricity();
Result<std::vector<Electricity>> ReadElectricity(std::string_view text, const std::string& name,
                                                 std::vector<Note>& notes);

// What queries cost, a row for each run of the given size (of all, where it is not given).
struct CostOptions {
  Electricity electricity;
  double queries = 1e6;
  double passages = 1;
  std::optional<double> batch_size = {};
  std::optional<double> seq_len = {};
};
Result<QueryCosts> CostQueries(const Dataset& data, const std::vector<Column>& predicted,
                               const CostOptions& options);

// A CSV with the columns model and accuracy, and label if you like.
Result<std::vector<ModelAccuracy>> ReadAccuracies(std::string_view text, const std::string& name,
                                                  std::vector<Note>& notes);

// Accuracy against energy at one input size: the one given, else the largest that all models have
// (batch size times length) with as much of it as was given.
struct TradeoffOptions {
  std::optional<double> batch_size = {};
  std::optional<double> seq_len = {};
  std::optional<Joules> budget = {};
  std::optional<double> target = {};
};
Result<Tradeoff> TradeOff(const Dataset& data, const std::vector<Column>& predicted,
                          const std::vector<ModelAccuracy>& accuracies,
                          const TradeoffOptions& options);

}  // namespace beryl::learn
