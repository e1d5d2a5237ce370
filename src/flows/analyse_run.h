// The analyses of one accounted run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/analyze.h"
#include "base/result.h"
#include "flows/account_run.h"
#include "types/analysis.h"
#include "types/timeline.h"

namespace beryl::flows {

// The operations with the most energy or power. Power is always that of repeated layers added up.
OperationRanking RankRun(const AccountedRun& run, const analyze::RankingOptions& options);

// A file with a limit per line. No file: no limits.
Result<std::vector<BudgetLine>> ReadBudget(const std::string& file);
// Checks a run or a recording against its budget. What is missing of incomplete input may have used
// more, so no limit is kept then, unless `allow_incomplete`: then what is there decides.
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const AccountedRun& run, const AccountReport& report,
                                       bool allow_incomplete);
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const Measurement& measured, bool allow_incomplete);
std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const DescribedPrediction& prediction);

struct DiagramRequest {
  std::string node = {};  // a path, the end of one, or a pattern; empty: the whole program
  int depth = 4;          // figures, one below the other
  bool fold = true;       // repeated layers are one box
  std::optional<Phase> phase = {};
};
// How the energy of a node divides; one figure for each node that matches. With `fold`, a single
// one of the folded layers can be given too. It is a misuse error if there is no such node, or more
// than can be read.
Result<std::vector<EnergyDiagram>> DiagramsOf(const AccountedRun& run, const AccountReport& report,
                                              const DiagramRequest& request);

struct TimelineRequest {
  std::string node = {};          // whose parts are shown; empty: layers
  std::optional<int> level = {};  // or all nodes at this depth
  bool mean = false;              // over the steps that were accounted whole
  size_t slices = 600;
};
// Power over time, and the operations that ran.
Result<Timeline> TimelineOf(const AccountedRun& run, const AccountReport& report,
                            const TimelineRequest& request);

}  // namespace beryl::flows
