// The energy of a session's devices up to now, and our part of it, without keeping the readings:
// every stretch is evaluated once, as soon as its power and CPU times are complete, and then
// dropped. Our part may differ from what `beryl show` computes for the whole file by rounding at
// the boundaries of stretches.
//
// A stretch in which a window begins or ends is evaluated once more for that window, from or up to
// that time, with the readings on both sides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "types/live_power.h"
#include "types/measurement.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/unknown.h"

namespace beryl::account {

class RunningEnergy {
 public:
  explicit RunningEnergy(Nanos period);

  // Adds the next piece of a recorder.
  void Add(const RecordingPiece& piece);
  // Evaluates what has arrived, up to where it is complete, if that is long enough.
  void Settle();
  // Evaluates the rest: no more pieces will come.
  void Finish();
  const std::vector<LiveDevice>& devices() const { return devices_; }
  // The last stretch that was evaluated, with its processes; nothing if there was none since the
  // last call.
  std::optional<Measurement> TakeLast() { return std::exchange(last_, std::nullopt); }

  struct Window {
    uint64_t id = 0;
    // Its devices have the energy up to the last settled stretch.
    LiveWindow so_far;
  };
  // Returns the id of the window.
  uint64_t OpenWindow(std::string name, Nanos start);
  // Ends a window; later energy does not count. False if no such window is open.
  bool EndWindow(uint64_t window, Nanos end);
  // The energy of a window that has ended, after everything up to its end was added. Unknown if the
  // device's meter did not advance in the window. Nothing if there is no such window.
  std::optional<LiveWindow> CloseWindow(uint64_t window);
  const std::vector<Window>& open_windows() const { return windows_; }

 private:
  struct LastRun {
    uint64_t run_ns = 0;
    uint16_t cpu = 0;
    bool known = false;
  };
  // The last reading of a channel, and the step before it.
  struct LastReading {
    Nanos time;
    double value = kUnknown;
    std::optional<Watts> power;
    Nanos step;  // 0 if the power is unknown
  };

  void AddPower(const PowerTrace& power);
  void FollowReadings(const PowerTrace& power);
  void AddActivity(const ActivityTrace& activity);
  void AddFeatures(const FeatureTrace& features);
  void SettleUntil(Nanos until);
  // The readings up to `until`, the last CPU sample.
  PowerTrace TakePower(Nanos until);
  // The unsettled rest, with extrapolated readings at `end` where possible.
  PowerTrace RestUntil(Nanos end) const;
  Measurement Measure(const PowerTrace& stretch, Nanos from, Nanos to,
                      std::vector<LiveDevice>& sums);
  void ForgetActivityBefore(Nanos time);
  void ForgetFeaturesBefore(Nanos time);
  Nanos EarliestKept(Nanos otherwise) const;

  Nanos period_;
  PowerTrace power_;
  Recording recording_;
  std::vector<LastRun> runs_;          // of each task, at the first sample that is kept
  std::vector<LastReading> readings_;  // of each channel
  std::vector<LiveDevice> devices_;
  std::optional<Measurement> last_;
  std::vector<Window> windows_;
  uint64_t next_window_ = 1;
};

}  // namespace beryl::account
