// A run's energy by tree node and over time, in the formats of other tools.
//
// A new format is one file with a function from ExportedRun to its bytes, a line here, one in the
// table of export.cc, and its name in format.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/exported_run.h"

namespace beryl::views {

// The energy of the nodes.
const Column& EnergyOf(const AccountReport& report);

inline constexpr double kMicrojoule = 1e-6;

// Whole numbers of `unit` that differ from the values by less than one and add up to their rounded
// sum: the remainder goes to the values that lost most. NaN and negative values are 0.
std::vector<uint64_t> RoundTogether(const std::vector<double>& values, double unit);

// The nodes from below the root to `node`, outermost first; for the root, the root itself.
std::vector<NodeId> StackOf(const ModelTree& tree, NodeId node);
// The name of a node as that of a function: without what separates frames (semicolons) and stacks
// (newlines); never empty.
std::string FrameName(std::string_view name);
// Where the numbers come from and what made them, in one line.
std::string ProvenanceText(const AccountReport& report);

// `self_s`: seconds of operation of each node of the report's tree.
std::string WriteFoldedStacks(const AccountReport& report);
std::string WriteSpeedscope(const AccountReport& report);
std::string WriteChromeTrace(const AccountReport& report);
std::string WritePprof(const AccountReport& report, const std::vector<double>& self_s);
std::string WriteModelExplorer(const ExportedRun& run);
std::string WriteModelExplorerData(const ExportedRun& run);
std::string WritePerfetto(const ExportedRun& run);
// What is subtracted from all times, so that none is negative. 0 on clocks that start at the epoch.
Nanos PerfettoOrigin(const ExportedRun& run);
// `names`: those of run.traces beside the file `tracks`.
std::string WritePerfettoManifest(const ExportedRun& run, std::string_view tracks,
                                  const std::vector<std::string>& names);
std::string WriteTfevents(const ExportedRun& run);
std::string WriteFirefox(const ExportedRun& run);

}  // namespace beryl::views
