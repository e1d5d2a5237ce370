// Detects when a machine is idle.
#pragma once

#include <optional>

#include "base/units.h"
#include "types/unknown.h"

namespace beryl::sources {

// Measures what a machine draws on standby before anything is measured, and detects when it is back
// there. Works in stretches of a second.
class StandbyWatch {
 public:
  // CPU load, in percent of all CPUs, up to which a machine counts as idle.
  static constexpr double kRestingLoad = 1;
  // How much above standby still counts as standby.
  static constexpr double kTolerance = 1.05;

  // Energy of the machine from any start, and how busy it is (percent; NaN: unknown). Times
  // increase.
  void Add(Nanos time, std::optional<Joules> energy, double cpu_util);
  // Drops the stretches so far.
  void Restart();

  // Over the last complete stretch; nothing and NaN if there is none yet.
  std::optional<Watts> power() const { return power_; }
  double load() const { return load_; }
  bool IsResting() const { return load_ <= kRestingLoad; }
  bool IsBackAt(Watts standby) const { return power_ && *power_ <= kTolerance * standby; }

 private:
  bool started_ = false;
  Nanos from_;
  Joules from_energy_;
  double load_sum_ = 0;
  int load_count_ = 0;
  std::optional<Watts> power_;
  double load_ = kUnknown;
};

}  // namespace beryl::sources
