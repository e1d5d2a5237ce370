// Which node of a model's description each measured node is.
#pragma once

#include <vector>

#include "types/dataset.h"

namespace beryl::learn {

// By node of the run: the node of its description with the same scope; of operations that are no
// module of their own (MatMul in "attention.self") also of the same type, those of one scope in
// order. Types of modules are not compared: versions of a library differ in them. kNoNode: there is
// none. Precondition: the run has a description.
std::vector<NodeId> JoinDescription(const ModelRun& run);

}  // namespace beryl::learn
