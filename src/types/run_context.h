// RunContext: what a result says about the run it was made from, beside its Provenance.
#pragma once

#include <string>
#include <vector>

namespace beryl {

struct RunContext {
  std::vector<std::string> run_files;  // empty: read from traces
  std::vector<std::string> ops_files;
  std::vector<std::string> power_files;
  std::string policy;         // as requested
  std::string label;          // "synthetic" for the demo; otherwise empty
  std::string energy_source;  // "measured: CPU:0 and GPU:0 from power.csv"
};

}  // namespace beryl
