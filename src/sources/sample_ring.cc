#include "sources/sample_ring.h"

#include <array>

namespace beryl::sources {
namespace {

enum class RecordKind : uint32_t { kPower, kBirth, kActivity, kEnded, kFeatures, kMissed };

// Reads items from the bytes of a record. Records are padded so that items are aligned.
template <typename Thing>
std::span<const Thing> TakeThings(std::span<const std::byte>& bytes, size_t count) {
  const auto* things = reinterpret_cast<const Thing*>(bytes.data());
  bytes = bytes.subspan(count * sizeof(Thing));
  return {things, count};
}

}  // namespace

struct SampleRing::Head {
  RecordKind kind;
  uint32_t first;  // number of items of the first kind
  int64_t time;
  uint64_t second;  // number of items of the second kind, or a plain number
};

void SampleRing::Put(const Head& head, std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::array<std::span<const std::byte>, 3> parts = {std::as_bytes(std::span(&head, 1)), a,
                                                           b};
  if (!ring_.Put(parts)) lost_.fetch_add(1, std::memory_order_relaxed);
}

void SampleRing::PutPower(Nanos time, std::span<const MeterReading> readings) {
  Put({RecordKind::kPower, static_cast<uint32_t>(readings.size()), time.value, 0},
      std::as_bytes(readings));
}

void SampleRing::PutBirth(Nanos time, const ProcessTasks::Birth& birth) {
  Put({RecordKind::kBirth, 1, time.value, 0}, std::as_bytes(std::span(&birth, 1)));
}

void SampleRing::PutActivity(Nanos time, std::span<const CpuJiffies> cpus,
                             std::span<const TaskSample> tasks) {
  Put({RecordKind::kActivity, static_cast<uint32_t>(cpus.size()), time.value, tasks.size()},
      std::as_bytes(cpus), std::as_bytes(tasks));
}

void SampleRing::PutEnded(Nanos time, std::span<const uint32_t> tasks) {
  Put({RecordKind::kEnded, static_cast<uint32_t>(tasks.size()), time.value, 0},
      std::as_bytes(tasks));
}

void SampleRing::PutFeatures(Nanos time, std::span<const double> values) {
  Put({RecordKind::kFeatures, static_cast<uint32_t>(values.size()), time.value, 0},
      std::as_bytes(values));
}

void SampleRing::PutMissed(Nanos time, uint64_t ticks) {
  Put({RecordKind::kMissed, 0, time.value, ticks});
}

size_t SampleRing::Drain(SampleSink& sink) {
  size_t count = 0;
  for (; ring_.Take(drained_); ++count) {
    std::span<const std::byte> bytes(drained_);
    const Head head = TakeThings<Head>(bytes, 1).front();
    const Nanos time{head.time};
    switch (head.kind) {
      case RecordKind::kPower:
        sink.OnPower(time, TakeThings<MeterReading>(bytes, head.first));
        break;
      case RecordKind::kBirth: {
        const auto birth = TakeThings<ProcessTasks::Birth>(bytes, 1).front();
        sink.OnTaskBirth({birth.task, birth.watch, birth.pid, birth.tid, birth.name});
        break;
      }
      case RecordKind::kActivity: {
        const auto cpus = TakeThings<CpuJiffies>(bytes, head.first);
        sink.OnActivity(time, cpus, TakeThings<TaskSample>(bytes, head.second));
        break;
      }
      case RecordKind::kEnded:
        sink.OnTasksEnded(TakeThings<uint32_t>(bytes, head.first));
        break;
      case RecordKind::kFeatures:
        sink.OnFeatures(time, TakeThings<double>(bytes, head.first));
        break;
      case RecordKind::kMissed:
        sink.OnMissed(time, head.second);
        break;
    }
  }
  return count;
}

}  // namespace beryl::sources
