// OpPile: operations that come in any order, and may be too many for a list.
//
// Up to kMostListed of them are a list. Beyond that they are packed as they come, eight bytes each
// instead of 32, in pieces that are sorted by themselves; at the end the pieces are merged, and
// each is let go as it is used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "types/op_trace.h"

namespace beryl {

class OpPile {
 public:
  static constexpr size_t kMostListed = size_t{1} << 21;
  static constexpr size_t kInPiece = size_t{1} << 14;

  // `most_listed`: less, for tests.
  explicit OpPile(size_t most_listed = kMostListed) : most_listed_(most_listed) {}

  // About how many will come: then a list does not grow step by step, through twice the memory.
  void Expect(size_t count) { listed_.reserve(std::min(count, most_listed_)); }
  void Add(const Op& op);
  bool empty() const { return listed_.empty() && pieces_.empty(); }

  // Changes an operation, but not its times; false: leaves it out.
  using Change = std::function<bool(Op& op)>;
  // Calls it for all of them, in no particular order; nothing is changed for good.
  void ForEach(const Change& look) const;
  // Moves them to the end of a trace, changed. A list stays in the order in which it came; if they
  // are many, and the trace has none, they are packed there, by start, those that start together in
  // the order in which they came.
  void MoveTo(OpTrace& trace, const Change& change);

 private:
  void PackListed();

  size_t most_listed_;
  std::vector<Op> listed_;  // those that are not packed
  std::vector<std::string> pieces_;
};

// Operations of `packed`, all in one step if they are in none.
std::shared_ptr<const PackedOps> InStep(std::shared_ptr<const PackedOps> packed, uint32_t step);

}  // namespace beryl
