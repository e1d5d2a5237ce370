#include "tree/module_flows.h"

#include <algorithm>
#include <set>

namespace beryl::tree {

std::vector<Flow> FlowsOfModules(const std::vector<Flow>& flows,
                                 const std::vector<NodeId>& module_of, const ModelTree& run) {
  std::vector<Flow> found;
  // By operation of the description: the parts of its module that it works for.
  std::vector<std::set<NodeId>> fed_by(module_of.size());
  const auto is_part = [&](NodeId part, NodeId module) {
    return module < part && part < run[module].end;
  };
  // What feeds an operation is complete before the operation feeds others.
  for (const Flow& flow : flows) {
    const NodeId from = module_of[flow.from];
    const NodeId to = module_of[flow.to];
    if (from == kNoNode || to == kNoNode) continue;
    const std::set<NodeId>& passed_on = fed_by[flow.from];
    if (from == to) {
      fed_by[flow.to].insert(passed_on.begin(), passed_on.end());
      continue;
    }
    found.push_back({from, to});
    if (is_part(from, to)) fed_by[flow.to].insert(from);
    if (!is_part(to, from)) continue;
    for (const NodeId part : passed_on) {
      if (part != to) found.push_back({part, to});
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace beryl::tree
