// Carries what a sampler read from the sampling thread to the draining thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/units.h"
#include "sources/process_tasks.h"
#include "sources/ring.h"
#include "sources/sampler.h"

namespace beryl::sources {

// One thread puts, one thread drains. Putting allocates nothing; samples without room are counted.
class SampleRing {
 public:
  void PutPower(Nanos time, std::span<const MeterReading> readings);
  void PutBirth(Nanos time, const ProcessTasks::Birth& birth);
  void PutActivity(Nanos time, std::span<const CpuJiffies> cpus, std::span<const TaskSample> tasks);
  void PutEnded(Nanos time, std::span<const uint32_t> tasks);
  void PutFeatures(Nanos time, std::span<const double> values);
  void PutMissed(Nanos time, uint64_t ticks);

  // Returns how many samples `sink` received.
  size_t Drain(SampleSink& sink);
  // Samples that found no room.
  uint64_t lost() const { return lost_; }

 private:
  struct Head;
  void Put(const Head& head, std::span<const std::byte> a = {}, std::span<const std::byte> b = {});

  Ring ring_{size_t{1} << 20};
  std::vector<std::byte> drained_;
  std::atomic<uint64_t> lost_ = 0;
};

}  // namespace beryl::sources
