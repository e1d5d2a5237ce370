// What models use energy for: which parts take it, what a query costs, what accuracy it buys.
// Worked out of a Dataset, from energy that was measured, predicted, or both side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/model_tree.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

// Where the numbers of an analysis came from.
struct EnergyOrigin {
  Provenance provenance;
  std::string data;
  bool measured = false;     // the data has energy
  std::string predicted_by;  // name of the profile; empty: nothing was predicted
  std::vector<Note> notes;
};

// The same energy in the two ways it may be known.
struct TwoEnergies {
  std::optional<Joules> measured;
  std::optional<Joules> predicted;
};
// What they are of `whole`: 0.25 for a quarter. NaN: not known.
struct TwoShares {
  double measured = kUnknown;
  double predicted = kUnknown;
};
inline TwoShares SharesOf(const TwoEnergies& energy, const TwoEnergies& whole) {
  return {ValueOrNan(energy.measured) / ValueOrNan(whole.measured),
          ValueOrNan(energy.predicted) / ValueOrNan(whole.predicted)};
}

// Where the energy of one model goes: the mean over its input sizes.
struct Breakdown {
  std::string model;
  uint64_t measured_runs = 0;  // input sizes at which the whole model's energy is known
  uint64_t predicted_runs = 0;
  TwoEnergies whole;
  // A type of module that has nothing but ML primitives inside, or of ML primitives that stand
  // beside modules: all nodes of it added up.
  struct Part {
    std::string type;
    Level level = Level::kModule;
    uint64_t nodes = 0;  // in the model
    TwoEnergies energy;
  };
  std::vector<Part> parts;  // the largest first
  // What the whole has and the parts have not. Below zero where the parts, each measured alone,
  // take more than the whole.
  TwoEnergies rest;
  TwoEnergies sum;  // of the parts and the rest
  // The model with like layers folded into one, their energy added up; "measured" and "predicted"
  // as far as they are known, and what part of the whole each is.
  TreeColumns tree;
};

struct Breakdowns {
  EnergyOrigin origin;
  std::vector<Breakdown> models;
};

// What a kilowatt-hour costs and emits, as of when, and who says so.
struct Electricity {
  std::string region;
  double price_per_kwh = kUnknown;
  std::string currency;
  std::string price_date;
  std::string price_source;
  double co2e_g_per_kwh = kUnknown;
  std::string carbon_date;
  std::string carbon_source;
};

// The energy, money and emissions of many queries. A query is one item of a batch, or several:
// `passages` of them.
struct QueryCosts {
  EnergyOrigin origin;
  Electricity electricity;
  double queries = 1e6;
  double passages = 1;
  // One model at one input size, by what was measured or by what was predicted.
  struct Row {
    std::string model;
    double batch_size = 0;
    double seq_len = 0;
    bool predicted = false;
    std::optional<Joules> batch_energy;  // of the model, once
    std::optional<Joules> query_energy;
    double kwh = kUnknown;
    double kwh_low = kUnknown;  // of a prediction with an interval
    double kwh_high = kUnknown;
    double price = kUnknown;
    double co2e_kg = kUnknown;
  };
  std::vector<Row> rows;
};

// How accurate a model is at its task, as someone says.
struct ModelAccuracy {
  std::string model;
  std::string label;  // to be shown; the model's name where nothing was said
  double accuracy = 0;
};

// Accuracy against energy, all models at one input size.
struct Tradeoff {
  EnergyOrigin origin;
  std::string accuracy_file;
  double batch_size = 0;
  double seq_len = 0;
  bool size_chosen = false;  // by the user; else the largest that all models have
  struct Point {
    std::string model;
    std::string label;
    double accuracy = 0;
    TwoEnergies energy;
    std::optional<Joules> low;  // of the prediction
    std::optional<Joules> high;
    // On the Pareto front: none of the others takes less and is as accurate, or takes as little
    // and is more accurate.
    bool optimal_measured = false;
    bool optimal_predicted = false;
  };
  std::vector<Point> points;  // by energy, the least first
  std::optional<Joules> budget;
  std::optional<double> target;
  // Positions in `points`. Nothing: no model is that frugal or that accurate.
  struct Choice {
    bool predicted = false;
    std::optional<size_t> within_budget;  // the most accurate
    std::optional<size_t> at_target;      // the one that takes least
  };
  std::vector<Choice> choices;                // a measured and a predicted one, as far as known
  std::vector<std::string> without_accuracy;  // models of the data
  std::vector<std::string> without_energy;    // models of the accuracies: not in the data
  std::vector<std::string> without_size;      // in both, but not at this input size
};

}  // namespace beryl
