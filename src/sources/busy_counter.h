// Turns CPU time into an energy counter: the arithmetic of the estimate, without a clock or files.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace beryl::sources {

// CPU time comes in ticks, so between two readings closer than a tick it seems to stand still and
// then to jump. The counter therefore steps only every kTicksAStep ticks, and never by more than
// all CPUs can use in that time; time that a tick reported too early counts in the next step. So
// the power between two steps never leaves the curve, and nothing is lost.
class BusyCounter {
 public:
  static constexpr int64_t kTicksAStep = 5;

  struct Curve {
    Watts idle;
    Watts of_a_cpu;  // above idle, per busy CPU
    double cpus = 0;
  };

  BusyCounter(const Curve& curve, int64_t tick_ns) : curve_(curve), tick_ns_(tick_ns) {}

  // Microjoules since the first call; never goes down, even if the kernel takes back a tick.
  // `busy_ns` is CPU time of all the CPUs since any moment, `now_ns` any steady clock.
  uint64_t Read(int64_t now_ns, int64_t busy_ns);

 private:
  Curve curve_;
  int64_t tick_ns_;
  bool started_ = false;
  int64_t step_at_ns_ = 0;  // the last step
  int64_t told_ns_ = 0;     // the most CPU time reported so far
  int64_t waiting_ns_ = 0;  // CPU time reported, but not counted
  int64_t passed_ns_ = 0;   // what was counted
  int64_t counted_ns_ = 0;
};

}  // namespace beryl::sources
