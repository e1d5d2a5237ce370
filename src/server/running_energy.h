// The energy of a session's devices up to now, and the part that is ours, without keeping what was
// read: every stretch is measured once, as soon as both power and CPU times of it are there, and
// forgotten. What `beryl show` makes of the whole file may differ in the part that is ours by what
// is rounded at the seams.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "sources/sources.h"
#include "types/live_power.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::server {

class RunningEnergy {
 public:
  explicit RunningEnergy(Nanos period);

  // The next piece of a recorder.
  void Add(const sources::Recorder::Piece& piece);
  // Measures what has come, up to where it is whole.
  void Settle();
  const std::vector<LiveDevice>& devices() const { return devices_; }

 private:
  struct LastRun {
    uint64_t run_ns = 0;
    uint16_t cpu = 0;
    bool known = false;
  };

  void AddPower(const PowerTrace& power);
  void AddActivity(const ActivityTrace& activity);
  void AddFeatures(const FeatureTrace& features);
  // The readings up to `until`, which is the last look at the CPUs.
  PowerTrace TakePower(Nanos until);
  void ForgetActivityBefore(Nanos time);
  void ForgetFeaturesBefore(Nanos time);
  Nanos EarliestKept(Nanos otherwise) const;
  LiveDevice& DeviceNamed(const std::string& name);

  Nanos period_;
  PowerTrace power_;
  Recording recording_;
  std::vector<LastRun> runs_;  // of each task, at the first sample that is kept
  std::vector<LiveDevice> devices_;
};

}  // namespace beryl::server
