// RunContext: what a result says about itself, so that it can be read by someone who was not there.
#pragma once

#include <string>
#include <vector>

namespace beryl {

struct RunContext {
  std::string tool;  // "beryl 0.1.0"
  std::string build_type;
  std::string machine;                 // where the accounting ran, not the traced program
  std::vector<std::string> run_files;  // empty: read from traces
  std::vector<std::string> ops_files;
  std::string power_file;
  std::string policy;         // as asked for
  std::string label;          // "synthetic" for the demo; else empty
  std::string energy_source;  // "measured: CPU:0 and GPU:0 from power.csv"
};

}  // namespace beryl
