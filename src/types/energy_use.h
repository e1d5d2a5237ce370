// What models use energy for: which parts take it, what a query costs, what accuracy it buys.
// Computed from a Dataset, from measured energy, predicted energy, or both.
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

// Where the numbers of an analysis come from.
struct EnergyOrigin {
  Provenance provenance;
  std::string data;
  bool measured = false;     // the data has energy
  std::string predicted_by;  // name of the profile; empty: no prediction
  std::vector<Note> notes;
};

// The same energy, measured and predicted.
struct TwoEnergies {
  std::optional<Joules> measured;
  std::optional<Joules> predicted;
};
// Their shares of `whole`: 0.25 for a quarter. NaN: unknown.
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
  // All nodes of one type together: modules that contain only ML primitives, or ML primitives
  // beside modules.
  struct Part {
    std::string type;
    Level level = Level::kModule;
    uint64_t nodes = 0;  // in the model
    TwoEnergies energy;
  };
  std::vector<Part> parts;  // the largest first
  // The whole minus the parts. Negative if the parts, each measured alone, take more than the
  // whole.
  TwoEnergies rest;
  TwoEnergies sum;  // of the parts and the rest
  // The model with like layers folded and their energy added up: "measured" and "predicted" if
  // known, and each node's share of the whole.
  TreeColumns tree;
};

struct Breakdowns {
  EnergyOrigin origin;
  std::vector<Breakdown> models;
};

// The price and emissions of a kilowatt-hour, with date and source. Nothing: unknown.
struct Electricity {
  std::string region;
  std::optional<double> price_per_kwh;
  std::string currency;
  std::string price_date;
  std::string price_source;
  std::optional<double> co2e_g_per_kwh;
  std::string carbon_date;
  std::string carbon_source;
};

// A table of regions as it is shown.
struct ElectricityTable {
  Provenance provenance;
  std::vector<Electricity> regions;
};

// What an amount of energy costs.
struct EnergyPrice {
  std::optional<double> kwh;
  std::optional<double> kwh_low;  // if the energy has an interval
  std::optional<double> kwh_high;
  std::optional<double> price;
  std::optional<double> co2e_kg;
};

// The energy, money and emissions of many queries. A query is one item of a batch, or several:
// `passages` of them.
struct QueryCosts {
  EnergyOrigin origin;
  Electricity electricity;
  double queries = 1e6;
  double passages = 1;
  // One model at one input size, measured or predicted.
  struct Row {
    std::string model;
    std::optional<double> batch_size;
    std::optional<double> seq_len;
    bool predicted = false;
    std::optional<Joules> batch_energy;  // of one run of the model
    std::optional<Joules> query_energy;
    EnergyPrice cost;  // of all queries
  };
  std::vector<Row> rows;
};

// How accurate a model is at its task, as reported.
struct ModelAccuracy {
  std::string model;
  std::string label;  // to be shown; defaults to the model's name
  double accuracy = 0;
};

// Accuracy against energy, all models at one input size.
struct Tradeoff {
  EnergyOrigin origin;
  std::string accuracy_file;
  std::optional<double> batch_size;
  std::optional<double> seq_len;
  bool size_chosen = false;  // by the user; otherwise the largest that all models have
  struct Point {
    std::string model;
    std::string label;
    double accuracy = 0;
    TwoEnergies energy;
    std::optional<Joules> low;  // of the prediction
    std::optional<Joules> high;
    // On the Pareto front: no other model takes less energy at the same accuracy or more, or the
    // same energy at higher accuracy.
    bool optimal_measured = false;
    bool optimal_predicted = false;
  };
  std::vector<Point> points;  // by energy, the least first
  std::optional<Joules> budget;
  std::optional<double> target;
  // Positions in `points`. Nothing: no model meets the limit.
  struct Choice {
    bool predicted = false;
    std::optional<size_t> within_budget;  // the most accurate
    std::optional<size_t> at_target;      // the one with the least energy
  };
  std::vector<Choice> choices;                // a measured and a predicted one, if known
  std::vector<std::string> without_accuracy;  // models of the data
  std::vector<std::string> without_energy;    // models with an accuracy that are not in the data
  std::vector<std::string> without_size;      // in both, but not at this input size
};

}  // namespace beryl
