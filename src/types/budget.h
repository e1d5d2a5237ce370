// Budgets: limits that parts of a run are held to, and how the run stands against them.
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
  std::string pattern;         // a path; * stands for anything within a level, ** for any levels
  bool whole_run = false;      // `total`: all operations, whatever their path; `pattern` is "total"
  std::optional<Phase> phase;  // nothing: all of them
  std::optional<Joules> limit_energy;
  std::optional<double> limit_share;  // of the energy of all operations, 0.25 for 25 %
  bool per_step = false;              // `limit_energy` is for a step, on average
  uint64_t line = 0;                  // in the file, from 1
  std::string text;                   // as it stands there
};

struct BudgetVerdict {
  BudgetLine budget;
  std::vector<std::string> matched;  // paths, the first few; empty: the pattern meets nothing
  uint64_t matched_count = 0;        // of all of them
  std::vector<std::string> nearest;  // where nothing was met: paths that look like the pattern
  // All that matched, added up; for a step where the budget is for one. Nothing: not known.
  std::optional<Joules> energy;
  std::optional<double> share;  // of the energy of all operations
  bool passed = false;
  std::string reason;  // why it did not pass, or what to know where it did; a sentence or empty
};

}  // namespace beryl
