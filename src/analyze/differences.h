// The differences between two sides of a comparison, by name.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyze/analyze.h"
#include "analyze/changes.h"

namespace beryl::analyze {

// A run on a side of a comparison.
struct RunOnSide {
  const Footprint* footprint = nullptr;
  const TraceTree* tree = nullptr;     // on the merged tree of all runs
  const StepBlocks* blocks = nullptr;  // nullptr: whole runs are compared
};
using Side = std::vector<RunOnSide>;

// The figures of `count` rows on a side. `rows` gives those of the kinds of a tree.
std::vector<SideFigures> FiguresOf(const Side& side,
                                   const std::function<RowsOfKind(const TraceTree&)>& rows,
                                   size_t count);

struct Differences {
  std::vector<DifferenceRow> rows;  // largest first
  uint64_t unknown_names = 0;       // nodes left out because one run has no known energy for them
};

// Compares two sides on one merged tree. Without a level, the rows are the deepest nodes that
// explain the difference: every operation is in exactly one row, and a node has its own row if its
// difference is large enough; otherwise it counts in its parent. At the level of modules, rows
// contain one another. `whole` is of all operations.
struct DifferenceOptions {
  std::optional<NameLevel> level;
  double false_discovery = 0.05;
};
Differences FindDifferences(const Side& before, const Side& after, const Circumstances& whole,
                            const DifferenceOptions& options);

}  // namespace beryl::analyze
