// The energy of a session's devices up to now, and the part that is ours, without keeping what was
// read: every stretch is measured once, as soon as both power and CPU times of it are there, and
// forgotten. What `beryl show` makes of the whole file may differ in the part that is ours by what
// is rounded at the seams.
//
// Windows are cut out of that: a stretch that a window begins or ends in is measured once more for
// it, from or up to that moment, as readings on both sides of it have it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "sources/sources.h"
#include "types/live_power.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/unknown.h"

namespace beryl::server {

class RunningEnergy {
 public:
  explicit RunningEnergy(Nanos period);

  // The next piece of a recorder.
  void Add(const sources::Recorder::Piece& piece);
  // Measures what has come, up to where it is whole, if that is long enough to be worth it.
  void Settle();
  // Measures all that is left: no more will come.
  void Finish();
  const std::vector<LiveDevice>& devices() const { return devices_; }

  void OpenWindow(uint64_t window, Nanos start);
  // Where it ends; what comes later does not count.
  void EndWindow(uint64_t window, Nanos end);
  // What was used in a window that has ended; all that was read up to then has been added. Unknown:
  // the device's meter took no step in the window, so that cannot be told. Of no window: nothing.
  std::vector<LiveDevice> CloseWindow(uint64_t window);

 private:
  struct LastRun {
    uint64_t run_ns = 0;
    uint16_t cpu = 0;
    bool known = false;
  };
  // The last reading of a channel, and the step that led to it.
  struct LastReading {
    Nanos time;
    double value = kUnknown;
    std::optional<Watts> power;
    Nanos step;  // 0 where the power is not known
  };
  struct Window {
    uint64_t id;
    Nanos start;
    Nanos end;
    std::vector<LiveDevice> used;  // up to the last stretch that was settled
  };

  void AddPower(const PowerTrace& power);
  void FollowReadings(const PowerTrace& power);
  void AddActivity(const ActivityTrace& activity);
  void AddFeatures(const FeatureTrace& features);
  void SettleUntil(Nanos until);
  // The readings up to `until`, which is the last look at the CPUs.
  PowerTrace TakePower(Nanos until);
  // What is not settled yet, with what a meter will have read at `end`, where that can be foreseen.
  PowerTrace RestUntil(Nanos end) const;
  void Measure(const PowerTrace& stretch, Nanos from, Nanos to, std::vector<LiveDevice>& sums);
  void ForgetActivityBefore(Nanos time);
  void ForgetFeaturesBefore(Nanos time);
  Nanos EarliestKept(Nanos otherwise) const;

  Nanos period_;
  PowerTrace power_;
  Recording recording_;
  std::vector<LastRun> runs_;          // of each task, at the first sample that is kept
  std::vector<LastReading> readings_;  // of each channel
  std::vector<LiveDevice> devices_;
  std::vector<Window> windows_;
};

}  // namespace beryl::server
