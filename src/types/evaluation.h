// How well energy is predicted for models outside of the training data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

// Errors are mean absolute percentage errors, 0.5 for half a percent. NaN: no nodes.
struct LevelErrors {
  double mape_nodes = kUnknown;
  double mape_models = kUnknown;           // mean over models of the mean over their nodes
  std::map<std::string, double> by_model;  // mean over nodes
  // By position in Evaluation::folds: mean over the models of a fold of the mean over their nodes.
  std::vector<double> by_fold;
  std::array<double, 2> range = {kUnknown, kUnknown};  // of mape_models over the seeds
  uint64_t nodes = 0;
  uint64_t unpredicted = 0;  // measured nodes that could not be predicted
  // Coverage of conformal intervals calibrated without what is left out, as a share of nodes. NaN:
  // no interval.
  double coverage = kUnknown;
  double mean_width_pct = kUnknown;  // of the interval, in percent of the prediction
  // The error that a given percentage of nodes stays below, 0 to 100.
  std::vector<double> cdf;
};

// What is left out of the training data at a time, to be predicted from the rest.
enum class FoldBy : uint8_t {
  kModel,
  kFamily,  // all models of a lineage
  kSize,    // all runs of a batch size and length
};

struct Evaluation {
  Provenance provenance;
  Method method = Method::kLaw;
  FeatureSet feature_set = FeatureSet::kAll;
  // "leave-one-model-out", "leave-one-family-out", "leave-one-size-out" or "train-test"
  std::string protocol;
  FoldBy fold_by = FoldBy::kModel;  // unless it is "train-test"
  std::vector<std::string> folds;   // the families or sizes left out: "BERT", "8x32"
  std::string train_data;
  std::string test_data;                       // empty: the same
  std::array<LevelErrors, 3> levels;           // by position in kDataLevels; mean over seeds
  std::map<std::string, double> by_operation;  // of ML primitives, by type
  double nominal = 0.9;
  struct Seed {
    uint64_t seed = 0;
    std::array<double, 3> mape_nodes = {kUnknown, kUnknown, kUnknown};
    std::array<double, 3> mape_models = {kUnknown, kUnknown, kUnknown};
  };
  std::vector<Seed> seeds;
  std::vector<std::string> laws;  // of kLaw: the law of each fold, in words
  std::vector<Note> notes;
  Seconds duration;
};

// The accuracy of a law fitted to only a few measurements.
struct Calibration {
  Provenance provenance;
  std::string data;
  uint64_t rows = 0;
  uint64_t seed = 0;
  uint64_t draws = 0;
  EnergyModel model;  // of the first draw
  double expected =
      kUnknown;  // percent; of the rows themselves, each predicted by a law fitted to the others
  // By model and level: the errors on everything outside of the rows, for the first draw and over
  // all draws. By position in kDataLevels.
  std::array<double, 3> mape = {kUnknown, kUnknown, kUnknown};
  std::array<double, 3> median = {kUnknown, kUnknown, kUnknown};
  std::array<double, 3> p95 = {kUnknown, kUnknown, kUnknown};
  std::vector<std::string> chosen;  // the rows of the first draw: "gpt2 8x32 h.0.mlp.c_fc"
  std::vector<Note> notes;
};

}  // namespace beryl
