// Budgets: energy limits for parts of a run, and how the run compares with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "types/op_trace.h"

namespace beryl {

// One line of a budget file. Exactly one of the two limits is given.
struct BudgetLine {
  std::string pattern;  // a path; * matches anything within a level, ** any levels
  // `total` or the name of a phase, which is then `pattern`: all operations, whatever their path.
  bool whole_run = false;
  std::optional<Phase> phase;  // nothing: all phases
  std::optional<Joules> limit_energy;
  std::optional<double> limit_share;  // of the energy of all operations, 0.25 for 25 %
  bool per_step = false;              // `limit_energy` is for a step, on average
  uint64_t line = 0;                  // in the file, from 1
  std::string text;                   // as written in the file
};

struct BudgetVerdict {
  BudgetLine budget;
  std::vector<std::string> matched;  // the first few paths; empty: the pattern matches nothing
  uint64_t matched_count = 0;        // all of them
  std::vector<std::string> nearest;  // if nothing matched: paths that look like the pattern
  // The sum of all matches; per step if the budget is per step. Nothing if unknown.
  std::optional<Joules> energy;
  std::optional<double> share;  // of the energy of all operations
  bool passed = false;
  std::string reason;  // why it failed, or what to know about a pass; a sentence or empty
};

}  // namespace beryl
