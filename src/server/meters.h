// Where the monitor's readings come from: the machine's sampler, or a script in tests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "sources/processes.h"
#include "sources/sampler.h"
#include "types/recording.h"

namespace beryl::server {

class Meters {
 public:
  // `blank`: the start of every recording: channels, columns, CPUs, the machine's name and notes
  // about the meters. `report`: the output of `beryl sources --format json`.
  Meters(RecordingPiece blank, std::string report)
      : blank_(std::move(blank)), report_(std::move(report)) {}
  virtual ~Meters() = default;

  // Starts reading afresh, without earlier watches. `longest_activity`: the longest time between
  // task samples if reading them is expensive.
  virtual Status Start(Nanos period, Nanos longest_activity) = 0;
  virtual void Stop() = 0;
  // Only while reading.
  // Takes a reading of power and tasks at once; returns when it can be drained, or after a short
  // while.
  virtual void ReadNow() = 0;
  virtual void SetPeriod(Nanos period) = 0;
  virtual Result<sources::WatchId> Watch(int32_t pid, const sources::Watcher& watcher) = 0;
  virtual void Unwatch(sources::WatchId watch) = 0;
  virtual size_t Drain(sources::SampleSink& sink) = 0;

  // The threads and processes of each confined watcher that have times of their own.
  virtual std::map<uint32_t, size_t> tasks_of_users() const = 0;
  virtual SamplerCost cost() const = 0;
  // The clock of samples.
  virtual Nanos Now() const = 0;

  const RecordingPiece& blank() const { return blank_; }
  const std::vector<PowerChannel>& channels() const { return blank_.power.channels; }
  const std::string& report() const { return report_; }

 protected:
  RecordingPiece blank_;

 private:
  std::string report_;
};

}  // namespace beryl::server
