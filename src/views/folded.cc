// One stack per line with its weight: flamegraph.pl, inferno and others.
#include <fmt/format.h>

#include "views/export.h"

namespace beryl::views {

std::string WriteFoldedStacks(const AccountReport& report) {
  const ModelTree& tree = report.tree.tree;
  const std::vector<uint64_t> weights = RoundTogether(EnergyOf(report).self, kMicrojoule);
  std::string text;
  for (NodeId id = 0; id < weights.size(); ++id) {
    if (weights[id] == 0) continue;
    std::string line;
    for (const NodeId frame : StackOf(tree, id)) {
      line += (line.empty() ? "" : ";") + FrameName(tree.nodes[frame].name);
    }
    text += fmt::format("{} {}\n", line, weights[id]);
  }
  return text;
}

}  // namespace beryl::views
