// Shapes as traces write them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::tree {

using TensorShape = std::vector<int64_t>;
// "[[30522, 256], [8, 64], []]": a shape for each input; of what is no tensor, empty.
std::vector<TensorShape> ReadShapes(std::string_view text);

// How often operations of each kind ran.
std::vector<uint64_t> CountKinds(const OpTrace& trace);

}  // namespace beryl::tree
