// Compares runs: how they differ, and how much a result depends on its sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analyze.h"
#include "base/result.h"
#include "flows/run_files.h"
#include "types/comparison.h"
#include "types/precision.h"

namespace beryl::flows {

// `level`: operation, layer, module or a depth; empty: operation. `gates`: "[PATTERN=]SHARE" each.
// `false_discovery`: a share.
Result<analyze::CompareOptions> CompareOptionsOf(const std::string& level,
                                                 const std::vector<std::string>& gates,
                                                 const std::string& false_discovery = "5%");
// Lets no gate pass that compares incomplete input: what is missing may have used more.
void FailIncomplete(Comparison& comparison);
// "A1 A2 -- B1 B2": removes what separates the sides from the runs, and returns how many runs each
// side has; nothing if nothing separates them. It is a misuse error if a side is empty.
Result<std::vector<size_t>> TakeSides(std::vector<std::string>& runs, std::string_view separator);

// The labels of run files and, if they were given, of sides.
struct CompareLabels {
  std::vector<std::string> runs;
  std::vector<std::string> sides = {};
};
// `given` has as many labels as there are runs, or sides.
Result<CompareLabels> LabelSides(const std::vector<std::string>& files,
                                 const std::vector<size_t>& sides, const std::string& given);

// A run by the name that messages and results have for it, and what reads it.
struct NamedRun {
  std::string name;
  std::function<Result<RunInput>()> read;
};
// Each is a run, or of a recording with rounds each round, as below.
Result<Comparison> CompareNamedRuns(const std::vector<NamedRun>& runs, const CompareLabels& labels,
                                    const RunOptions& options, analyze::CompareOptions compare);
// Each run file is a run, or of a recording with rounds each round. The first side is the baseline.
// `compare.sides` counts files. Recordings without operations are compared by their energy.
Result<Comparison> CompareRuns(const RunFiles& files, const CompareLabels& labels,
                               const RunOptions& options, analyze::CompareOptions compare);
// Whether all its gates hold.
bool KeepsGates(const Comparison& comparison);

// "2,4,8": keep every n-th reading. Returns them sorted, without duplicates, starting with 1; an
// empty text returns nothing. Anything else is a misuse error.
Result<std::vector<uint32_t>> ParsePeriods(const std::string& text);
// Each run is a repetition of the same one. Without `periods`, it chooses them from the
// readings.
Result<Precision> MeasurePrecision(const RunFiles& files, const std::vector<std::string>& labels,
                                   const RunOptions& options, const std::vector<uint32_t>& periods);

}  // namespace beryl::flows
