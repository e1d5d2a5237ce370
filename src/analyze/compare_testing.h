// Short notation for runs to compare, for the tests of this room.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/analyze_testing.h"

namespace beryl::analyze {

// A run and what was worked out of it.
struct MadeRun {
  std::string label;
  TraceMaker maker;
  TraceTree folded;

  RunToCompare Ref() {
    folded = Fold(Build(maker.trace()));
    return {label, &maker.trace(), &maker.footprint(), &folded};
  }
};

// Energies of each step, by path.
using Steps = std::map<std::string, std::vector<double>>;
inline MadeRun Make(const std::string& label, const Steps& paths,
                    const std::string& channel = "CPU:0") {
  MadeRun run;
  run.label = label;
  for (const auto& [path, energies] : paths) {
    for (uint32_t step = 0; step < energies.size(); ++step) {
      run.maker.Share(run.maker.Kind(path), energies[step], channel, step);
    }
  }
  return run;
}

inline Comparison CompareRuns(std::vector<MadeRun>& runs, const CompareOptions& options = {}) {
  std::vector<RunToCompare> refs;
  refs.reserve(runs.size());
  for (MadeRun& run : runs) refs.push_back(run.Ref());
  return Compare(refs, options);
}

}  // namespace beryl::analyze
