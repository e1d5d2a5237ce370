// A step of training: the forward pass of a described model, the backward pass that PyTorch's
// autograd derives from it, and the optimizer.
#pragma once

#include "types/description.h"

namespace beryl::models {

// `forward`: one pass that ends with a loss. The result has three children below its root: forward,
// backward and optimizer. The backward pass has the modules of the forward pass in reverse order.
// Flows from one phase into another are what is remembered for later.
Description TrainingStep(Description forward, const Training& training);

}  // namespace beryl::models
