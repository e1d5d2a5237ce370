#include <cmath>

#include "sources/sources.h"

namespace beryl::sources {
namespace {

constexpr int64_t kStretchNs = 1'000'000'000;

}  // namespace

void StandbyWatch::Restart() { *this = StandbyWatch(); }

void StandbyWatch::Add(Nanos time, double joules, double cpu_util) {
  if (std::isnan(joules)) return;
  if (!started_) {
    started_ = true;
    from_ = time;
    from_j_ = joules;
    return;
  }
  if (!std::isnan(cpu_util)) {
    load_sum_ += cpu_util;
    ++load_count_;
  }
  if ((time - from_).value < kStretchNs) return;
  watts_ = (joules - from_j_) / (time - from_).seconds();
  load_ = load_count_ == 0 ? kUnknown : load_sum_ / load_count_;
  from_ = time;
  from_j_ = joules;
  load_sum_ = 0;
  load_count_ = 0;
}

}  // namespace beryl::sources
