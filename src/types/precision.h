// Precision: how much an accounting result depends on its sampling.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/account_report.h"
#include "types/comparison.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl {

struct Precision {
  Provenance provenance;
  std::vector<AccountReport> runs;
  std::vector<std::string> labels;
  // Accounting similarity with sample sparsing: every n-th power reading against all of them. NaN:
  // undefined.
  struct Sparsing {
    uint32_t every = 1;
    double period_ms = 0;  // mean between the remaining readings of the fastest channel
    double pearson = 0;    // mean over the runs
    double lowest = 0;     // over the runs
    double moved = 0;      // share of the energy that moved to other operations; mean
    double total_change =
        0;  // relative change of the energy of all operations; the largest in magnitude
  };
  std::vector<Sparsing> sparsing;
  // With sample widening: the first n samples against all of them.
  struct Widening {
    uint32_t samples = 0;
    double pearson = 0;
    double moved = 0;
  };
  std::vector<Widening> widening;
  std::string sample;  // "run" or "step": the samples of widening and stability; empty: only one
  // Between runs, or between steps (or groups of steps) of the only run.
  SimilarityMatrices stability;
  std::vector<Note> verdicts;  // conclusions; of widening and stability, with `sample` as subject
};

}  // namespace beryl
