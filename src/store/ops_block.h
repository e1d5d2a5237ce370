// A block of operations: columns, because numbers of one kind are alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::store {

inline constexpr size_t kOpsInBlock = size_t{1} << 16;
// Times beyond this are nobody's: differences of such times would not fit.
inline constexpr int64_t kFarthestTime = 4'000'000'000'000'000'000;
inline constexpr uint32_t kMostLanes = 1U << 22;

// `ops` stand in order of their start.
std::string EncodeOps(const std::vector<Op>& ops);

// From a file's numbers to those of the trace it is read into.
struct OpNumbers {
  uint32_t kinds = 0;  // how many the file has named so far
  uint32_t first_kind = 0;
  uint32_t first_lane = 0;
  std::vector<uint16_t> devices;
  std::vector<uint32_t> steps;
};

// False: the bytes are none that EncodeOps made, or refer to what is not there.
bool DecodeOps(std::string_view bytes, const OpNumbers& numbers, std::vector<Op>& ops);

}  // namespace beryl::store
