// How far long work has come, and whether it should go on: shared by those who do it and those who
// wait for it. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"

namespace beryl {

class WorkWatch {
 public:
  // For those who work: so many pieces more are to be done; one of them is.
  void Expect(uint64_t pieces) { total_ += pieces; }
  void DoneOne() { ++done_; }
  // kNotNow: the work should end at once, with this error.
  Status CheckGoesOn() const {
    if (!is_stopped()) return {};
    return Error{ErrorCode::kNotNow, "the work was stopped"};
  }

  // For those who wait.
  void Stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  uint64_t done() const { return done_; }
  uint64_t total() const { return total_; }

 private:
  std::atomic<uint64_t> done_ = 0;
  std::atomic<uint64_t> total_ = 0;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace beryl
