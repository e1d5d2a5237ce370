// Reads meters, CPU times and features, all on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/discover.h"
#include "sources/processes.h"
#include "types/note.h"
#include "types/recording.h"

namespace beryl::sources {

// Receives what a sampler read, in order, on the thread that calls Drain.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // One reading for each of Discovery::channels.
  virtual void OnPower(Nanos time, std::span<const MeterReading> readings) = 0;
  // A task may be told again, with the name that it has by then.
  virtual void OnTaskBirth(const TaskBirth& birth) = 0;
  virtual void OnActivity(Nanos time, std::span<const CpuJiffies> cpus,
                          std::span<const TaskSample> tasks) = 0;
  // Nothing more comes of these tasks: whoever keeps something of each may forget it.
  virtual void OnTasksEnded(std::span<const uint32_t> /*tasks*/) {}
  // One value per column of Discovery::features, in order.
  virtual void OnFeatures(Nanos time, std::span<const double> values) = 0;
  // `ticks` before `time` were not read.
  virtual void OnMissed(Nanos time, uint64_t ticks) = 0;
};

struct SamplerOptions {
  Nanos period{4'000'000};            // of power; 1 ms to minutes
  Nanos activity_period{20'000'000};  // of CPU times, rounded up to whole ticks
  // The longest activity period, for so many tasks that reading them is expensive.
  Nanos longest_activity{500'000'000};
  Nanos feature_period{100'000'000};
  bool jiffies_of_all_tasks = false;  // user and system time of every task, for published clients
  TaskLimits limits = {};
};

// Reads everything on one thread, at absolute deadlines, and passes it on through a ring. The loop
// allocates nothing once all tasks are known.
class Sampler {
 public:
  Sampler(const Machine& machine, Discovery& discovery, const SamplerOptions& options);
  ~Sampler();

  // Starts the thread. Watch and Unwatch may be called before or after, from any thread.
  Status Start();
  // Takes a last reading. Drain once more afterwards.
  void Stop();

  // Watches a process and its descendants from now on. An Error if there is no such process.
  Result<WatchId> Watch(int32_t pid, const Watcher& watcher = {});
  // Watches everything that this program starts from now on, and orphans that it adopts
  // (PR_SET_CHILD_SUBREAPER). A process that is not reaped before a sample is taken is reported
  // under its own number.
  WatchId WatchChildren();
  void Unwatch(WatchId watch);

  // Takes an extra reading of power and tasks. Returns when it can be drained, or after 100 ms. Any
  // thread but the sampling one.
  void ReadNow();

  // Changes the period from the next tick on. Thread-safe. Counters that would wrap unseen are read
  // more often than requested.
  void SetPeriod(Nanos period);
  Nanos period() const;

  // Passes new readings to `sink`; one thread at a time. Returns the number of samples.
  size_t Drain(SampleSink& sink);

  // The threads and processes of each confined watcher that have times of their own, as of the last
  // reading of tasks.
  std::map<uint32_t, size_t> tasks_of_users() const;
  SamplerCost cost() const;
  // After Stop: what was read less often than requested, and why.
  std::vector<Note> notes() const;
  // The time on the clock of samples: nanoseconds since the epoch, never backwards.
  Nanos Now() const;
  // The package of each CPU, and where task times come from.
  const std::vector<uint16_t>& cpu_packages() const;
  const std::string& cpu_time() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace beryl::sources
