// Aligning: finds the module of a model's description for each module of a run.
//
// A run names its modules by class and number (`BertLayer_3`) or by attribute (`encoder/layer_3`);
// a description names them by attribute (`encoder.layer.3`). Names decide where they agree.
// Otherwise modules are matched by class, by the sizes of their weights, and by their order among
// siblings, from the outside in. Levels that only one of the trees has (DataParallel, a compiled
// module, an adapter) are skipped.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

struct AlignHints {
  // By node of the description: whether it is a separate module that a run can show. Functions
  // (MatMul, Softmax) and math operations are not.
  std::vector<bool> is_module;
  // Whether the tensors that a module of the run worked on have the sizes of the described module's
  // weights; nothing if unknown.
  std::function<std::optional<bool>(NodeId run, NodeId described)> fits;
  // By node of the run: whether it or anything below it did forward work. Empty: all did.
  std::vector<bool> runs_forward = {};
  // Whether two modules of the run ran on different threads only. Empty: none did.
  std::function<bool(NodeId, NodeId)> apart = {};
};

// By node of the run: the node of the description, or kNoNode.
struct AlignedTrees {
  std::vector<NodeId> match;  // each module of the description at most once
  // Further places of the same modules: their gradients, the updates of their weights, replicas.
  std::vector<NodeId> again;
};
AlignedTrees Align(const ModelTree& run, const ModelTree& description, const AlignHints& hints);

}  // namespace beryl
