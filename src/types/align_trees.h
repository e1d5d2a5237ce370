// Aligning: which module of a model's description each module of a run is.
//
// A run calls its modules by class and number (`BertLayer_3`), or by attribute (`encoder/layer_3`);
// a description by attribute (`encoder.layer.3`). Where names agree they decide. Else modules are
// told by class, by the sizes of their weights, and by their order among siblings, from the outside
// in. Whatever stands between two modules in only one of the trees (DataParallel, a compiled
// module, an adapter) is looked through.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "types/model_tree.h"

namespace beryl {

struct AlignHints {
  // By node of the description: whether it is a module of its own that a run can show. Functions
  // (MatMul, Softmax) and math operations are not.
  std::vector<bool> is_module;
  // Whether the tensors that a module of the run was seen to work on have the sizes of the
  // described module's weights; nothing: not known.
  std::function<std::optional<bool>(NodeId run, NodeId described)> fits;
};

// By node of the run: the node of the description, or kNoNode. Each module of the description is
// given once.
std::vector<NodeId> Align(const ModelTree& run, const ModelTree& description,
                          const AlignHints& hints);

}  // namespace beryl
