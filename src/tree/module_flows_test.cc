#include "tree/module_flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace beryl::tree {
namespace {

using testing::ElementsAre;

// The model, an attention with three parts, and a layer behind it.
enum Module : NodeId { kModel, kAttention, kQuery, kKey, kOutput, kBehind };

ModelTree RunTree() {
  ModelTree run;
  for (const NodeId parent : {kModel, kModel, kAttention, kAttention, kAttention, kModel}) {
    run.nodes.emplace_back().parent = parent;
  }
  CloseTree(run);
  return run;
}

TEST(FlowsOfModulesTest, WorkOfAModuleItselfConnectsItsParts) {
  // The operations: query, key, product, softmax, output, behind.
  const std::vector<NodeId> module_of = {kQuery, kKey, kAttention, kAttention, kOutput, kBehind};
  const std::vector<Flow> flows = {{0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
  EXPECT_THAT(
      FlowsOfModules(flows, module_of, RunTree()),
      ElementsAre(Flow{kQuery, kAttention}, Flow{kKey, kAttention}, Flow{kAttention, kOutput},
                  Flow{kQuery, kOutput}, Flow{kKey, kOutput}, Flow{kOutput, kBehind}));
}

TEST(FlowsOfModulesTest, OnlyThatOperationConnectsThatHasTheResult) {
  // Two sums of the model itself: one behind the attention, one with what came before it.
  const std::vector<NodeId> module_of = {kAttention, kModel, kBehind, kModel, kNoNode};
  const std::vector<Flow> flows = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  EXPECT_THAT(FlowsOfModules(flows, module_of, RunTree()),
              ElementsAre(Flow{kAttention, kModel}, Flow{kBehind, kModel}, Flow{kModel, kBehind},
                          Flow{kAttention, kBehind}));
}

}  // namespace
}  // namespace beryl::tree
