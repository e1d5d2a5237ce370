// The results of predictions and evaluations, ready to be shown.
#pragma once

#include <string>
#include <vector>

#include "types/column.h"
#include "types/dataset.h"
#include "types/energy_model.h"
#include "types/evaluation.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

struct PredictionReport {
  Provenance provenance;
  EnergyModel model;
  Dataset data;
  std::vector<Column> predicted;  // by run
  std::vector<Note> notes;        // of the data and of the prediction
};

// The same data evaluated with several methods or sets of features.
struct Ablation {
  Provenance provenance;
  std::vector<Evaluation> evaluations;
  std::vector<Note> notes;
};

}  // namespace beryl
