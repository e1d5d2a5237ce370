// A block of operations: columns, because numbers of one kind are alike.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "types/op_trace.h"

namespace beryl::store {

inline constexpr size_t kOpsInBlock = size_t{1} << 14;
// Times beyond this are nobody's: differences of such times would not fit.
inline constexpr int64_t kFarthestTime = 4'000'000'000'000'000'000;
inline bool IsTime(int64_t time) { return time >= -kFarthestTime && time <= kFarthestTime; }
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

// The operations of a run file as they stand in it. What a block says of itself is read at once,
// its operations when they are asked for.
class RunFileOps : public PackedOps {
 public:
  // False: the bytes are none that EncodeOps made, refer to what is not there, or go back in time
  // from the block before.
  bool Add(std::string bytes, std::shared_ptr<const OpNumbers> numbers);

  const OpGlance& glance() const override { return glance_; }
  size_t blocks() const override { return blocks_.size(); }
  bool Unpack(size_t block, std::vector<Op>& ops) const override;

 private:
  struct Block {
    std::string bytes;
    std::shared_ptr<const OpNumbers> numbers;
  };
  std::vector<Block> blocks_;
  OpGlance glance_;
  int64_t last_start_ = std::numeric_limits<int64_t>::min();
};

}  // namespace beryl::store
