// Reads shapes as traces write them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::tree {

using TensorShape = std::vector<int64_t>;
// "[[30522, 256], [8, 64], []]": one shape for each input; empty for inputs that are not tensors.
std::vector<TensorShape> ReadShapes(std::string_view text);

}  // namespace beryl::tree
