// Precision: how much an accounting result hangs on how it was sampled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/account_report.h"
#include "types/comparison.h"
#include "types/provenance.h"

namespace beryl {

struct Precision {
  Provenance provenance;
  std::vector<AccountReport> runs;
  std::vector<std::string> labels;
  // Accounting similarity with sample sparsing: every n-th power reading against all of them. NaN
  // where it is not defined.
  struct Sparsing {
    uint32_t every = 1;
    double period_ms = 0;     // mean between the readings that are left, of the fastest channel
    double pearson = 0;       // mean over the runs
    double lowest = 0;        // of the runs
    double moved = 0;         // share of the energy that went to other operations; mean
    double total_change = 0;  // of the energy of all operations, relative; the largest in size
  };
  std::vector<Sparsing> sparsing;
  // With sample widening: the first n samples against all of them.
  struct Widening {
    uint32_t samples = 0;
    double pearson = 0;
    double moved = 0;
  };
  std::vector<Widening> widening;
  std::string sample;  // "run" or "step": what widening and stability are over; empty: only one
  // Between runs, or between steps (or groups of them) of the only run.
  SimilarityMatrices stability;
  std::vector<std::string> verdicts;  // what it comes to, in sentences
};

}  // namespace beryl
