// A block of operations, in columns, because numbers of one kind are similar.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "types/op_trace.h"

namespace beryl::store {

inline constexpr size_t kOpsInBlock = size_t{1} << 14;
// Times beyond this are invalid: their differences would not fit.
inline constexpr int64_t kFarthestTime = 4'000'000'000'000'000'000;
inline bool IsTime(int64_t time) { return time >= -kFarthestTime && time <= kFarthestTime; }
inline constexpr uint32_t kMostLanes = 1U << 22;

// `ops` must be sorted by start.
std::string EncodeOps(const std::vector<Op>& ops);

// Maps a file's numbers to those of the trace it is read into.
struct OpNumbers {
  uint32_t kinds = 0;  // how many the file has defined so far
  uint32_t first_kind = 0;
  uint32_t first_lane = 0;
  std::vector<uint16_t> devices;
  std::vector<uint32_t> steps;
};

// The operations of a run file in packed form. The summary of a block is read at once, its
// operations on request.
class RunFileOps : public PackedOps {
 public:
  // False if EncodeOps did not make the bytes, they refer to something undefined, or go back in
  // time from the previous block.
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
