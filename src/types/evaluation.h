// How well energy is predicted for models that were not trained on.
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

// Errors are mean absolute percentage errors, 0.5 for half a percent. NaN: no node to tell by.
struct LevelErrors {
  double mape_nodes = kUnknown;
  double mape_models = kUnknown;           // mean over models of the mean over their nodes
  std::map<std::string, double> by_model;  // mean over nodes
  std::array<double, 2> range = {kUnknown, kUnknown};  // of mape_models over the seeds
  uint64_t nodes = 0;
  uint64_t unpredicted = 0;  // measured nodes that could not be predicted
  // Of conformal intervals calibrated on the other models; shares of nodes, NaN: no interval.
  double coverage = kUnknown;
  double mean_width_pct = kUnknown;  // of the interval, in percent of the prediction
  // The error that a share of nodes stays below: by percent, 0 to 100.
  std::vector<double> cdf;
};

struct Evaluation {
  Provenance provenance;
  Method method = Method::kLaw;
  FeatureSet feature_set = FeatureSet::kAll;
  std::string protocol;  // "leave-one-model-out" or "train-test"
  std::string train_data;
  std::string test_data;              // empty: the same
  std::array<LevelErrors, 3> levels;  // by position in kDataLevels; of several seeds the mean
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

// How well a law does that was fitted to a few measurements only.
struct Calibration {
  Provenance provenance;
  std::string data;
  uint64_t rows = 0;
  uint64_t seed = 0;
  uint64_t draws = 0;
  EnergyModel model;           // of the first draw
  double expected = kUnknown;  // percent; the rows themselves, each by a law fitted to the others
  // Model by model and level by level: the errors on everything that was not in the rows, of the
  // first draw and over all draws. By position in kDataLevels.
  std::array<double, 3> mape = {kUnknown, kUnknown, kUnknown};
  std::array<double, 3> median = {kUnknown, kUnknown, kUnknown};
  std::array<double, 3> p95 = {kUnknown, kUnknown, kUnknown};
  std::vector<std::string> chosen;  // the rows of the first draw: "gpt2 8x32 h.0.mlp.c_fc"
  std::vector<Note> notes;
};

}  // namespace beryl
