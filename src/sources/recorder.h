// Makes pieces of a PowerTrace and a Recording from what a sampler read.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "sources/sampler.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::sources {

// Makes a PowerTrace and a Recording, piece by piece, from what a sampler read: undoes wraps, keeps
// a counter's steps and drops the readings between them, and notes where a meter stood still, went
// down or could not be read.
class Recorder final : public SampleSink {
 public:
  struct Options {
    std::vector<WatchId> watches;  // watches of the sampler that are ours
    Nanos every = {};              // at most one reading in this time; 0: all
  };
  // `blank` describes what is read: channels, columns and CPUs without readings (see BlankPiece),
  // and the period, the intended time between readings.
  Recorder(const RecordingPiece& blank, Options options);
  ~Recorder() override;

  void OnPower(Nanos time, std::span<const MeterReading> readings) override;
  void OnTaskBirth(const TaskBirth& birth) override;
  void OnActivity(Nanos time, std::span<const CpuJiffies> cpus,
                  std::span<const TaskSample> tasks) override;
  void OnTasksEnded(std::span<const uint32_t> tasks) override;
  void OnFeatures(Nanos time, std::span<const double> values) override;
  void OnMissed(Nanos time, uint64_t ticks) override;

  // Counts the last reading, even if it came too soon.
  void KeepLast();
  // What arrived since the last piece: power, activity and features.
  RecordingPiece Take();
  // The last piece: closes what is still open, such as a counter that stands still.
  RecordingPiece Finish();

  // Energy that a so far idle counter counts from now on was used from `time` on.
  void StartFrom(Nanos time);
  // Counts the tasks of one more watch as ours: those of processes that start from now on.
  void AddWatch(WatchId watch);

  // Whether the energy used until `time` is known: every moving meter has a reading at or after
  // `time`, or will not have one.
  bool HasReached(Nanos time) const;
  // Time of the last sample of tasks; nothing if there is none.
  std::optional<Nanos> last_activity() const;

  // The joules of each channel so far; NaN: no reading yet.
  std::vector<double> energy_j() const;
  // The current power of each channel; NaN: unknown.
  std::vector<double> power_w() const;
  // The sum of the channels within no other; nothing if none has a reading yet.
  std::optional<Joules> outermost_energy() const;
  // The last cpu_util; NaN: none.
  double cpu_util() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The start of a recording of this sampler: channels, columns and CPUs without readings.
RecordingPiece BlankPiece(const Discovery& discovery, const Sampler& sampler);

}  // namespace beryl::sources
