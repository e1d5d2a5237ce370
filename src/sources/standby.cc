#include "sources/standby.h"

#include <cmath>

namespace beryl::sources {
namespace {

constexpr int64_t kStretchNs = 1'000'000'000;

}  // namespace

void StandbyWatch::Restart() { *this = StandbyWatch(); }

void StandbyWatch::Add(Nanos time, std::optional<Joules> energy, double cpu_util) {
  if (!energy) return;
  if (!started_) {
    started_ = true;
    from_ = time;
    from_energy_ = *energy;
    return;
  }
  if (!std::isnan(cpu_util)) {
    load_sum_ += cpu_util;
    ++load_count_;
  }
  if ((time - from_).value < kStretchNs) return;
  power_ = (*energy - from_energy_) / (time - from_);
  load_ = load_count_ == 0 ? kUnknown : load_sum_ / load_count_;
  from_ = time;
  from_energy_ = *energy;
  load_sum_ = 0;
  load_count_ = 0;
}

}  // namespace beryl::sources
