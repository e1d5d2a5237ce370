#include <unordered_map>

#include "store/recording_blocks.h"
#include "types/unknown.h"

namespace beryl::store {
namespace {

void PutStrings(std::string& out, const std::vector<std::string>& strings) {
  PutVarint(out, strings.size());
  for (const std::string& text : strings) PutString(out, text);
}

void PutPids(std::string& out, const std::vector<int32_t>& pids) {
  PutVarint(out, pids.size());
  for (const int32_t pid : pids) PutSigned(out, pid);
}

std::vector<uint64_t> Steps(const std::vector<Nanos>& times, size_t from, size_t to) {
  std::vector<uint64_t> steps;
  steps.reserve(to - from);
  for (size_t i = from + 1; i < to; ++i) {
    steps.push_back(static_cast<uint64_t>((times[i] - times[i - 1]).value));
  }
  return steps;
}

// The difference between two numbers, whichever is larger.
uint64_t Change(uint64_t before, uint64_t now) {
  return ZigZag(static_cast<int64_t>(now - before));
}

// By CPU, because the numbers of one CPU are similar.
std::vector<uint64_t> BusyChanges(const ActivityTrace& activity, size_t from, size_t to,
                                  size_t cpus) {
  std::vector<uint64_t> changes;
  changes.reserve((to - from) * cpus);
  for (size_t cpu = 0; cpu < cpus; ++cpu) {
    uint64_t before = 0;
    for (size_t i = from; i < to; ++i) {
      const uint64_t busy = activity.busy_ns[i * cpus + cpu];
      changes.push_back(Change(before, busy));
      before = busy;
    }
  }
  return changes;
}

}  // namespace

std::string EncodeMeter(const PowerChannel& channel) {
  const MeterTraits& meter = channel.meter;
  std::string out;
  PutString(out, channel.name);
  PutVarint(out, static_cast<uint64_t>(channel.kind));
  PutString(out, meter.source);
  PutString(out, meter.reads);
  PutVarint(out, static_cast<uint64_t>(meter.origin));
  PutString(out, meter.unit);
  PutFixed<double>(out, meter.per_count);
  PutVarint(out, meter.wrap.value_or(0));  // no counter wraps at 0
  PutFixed<double>(out, meter.update_period_us.value_or(kUnknown));
  PutFixed<double>(out, meter.error.value_or(kUnknown));
  PutString(out, meter.within);
  PutVarint(out, meter.moves ? (*meter.moves ? 2 : 1) : 0);
  return out;
}

std::string EncodeRecordingStart(const Recording& recording) {
  std::string out;
  PutStrings(out, recording.command);
  PutPids(out, recording.pids);
  PutString(out, recording.machine);
  PutSigned(out, recording.period.value);
  PutSigned(out, recording.start.value);
  return out;
}

std::string EncodeCpus(const ActivityTrace& activity) {
  std::string out;
  PutString(out, activity.cpu_time);
  PutVarint(out, activity.cpu_package.size());
  for (const uint16_t package : activity.cpu_package) PutVarint(out, package);
  return out;
}

std::string EncodeTasks(const std::vector<Task>& tasks) {
  std::string out;
  PutVarint(out, tasks.size());
  for (const Task& task : tasks) {
    PutSigned(out, task.pid);
    PutSigned(out, task.tid);
    PutVarint(out, static_cast<uint64_t>(task.owner));
    PutString(out, task.name);
  }
  return out;
}

std::string EncodeActivity(const ActivityTrace& activity, size_t from, size_t to) {
  const size_t cpus = activity.busy_ns.size() / activity.times.size();
  std::string out;
  PutVarint(out, to - from);
  PutVarint(out, cpus);
  PutSigned(out, activity.times[from].value);
  PutColumn(out, Steps(activity.times, from, to));
  PutColumn(out, BusyChanges(activity, from, to, cpus));
  std::vector<uint64_t> counts;
  counts.reserve(to - from);
  for (size_t i = from; i < to; ++i) {
    counts.push_back(activity.first_reading[i + 1] - activity.first_reading[i]);
  }
  PutColumn(out, counts);
  const size_t first = activity.first_reading[from];
  const size_t last = activity.first_reading[to];
  PutVarint(out, last - first);
  std::vector<uint64_t> tasks;
  std::vector<uint64_t> task_cpus;
  std::vector<uint64_t> runs;
  for (std::vector<uint64_t>* column : {&tasks, &task_cpus, &runs}) column->reserve(last - first);
  std::unordered_map<uint32_t, TaskReading> before;
  uint64_t task_before = 0;
  for (size_t i = first; i < last; ++i) {
    const TaskReading& reading = activity.readings[i];
    TaskReading& known = before[reading.task];
    tasks.push_back(Change(task_before, reading.task));
    task_cpus.push_back(Change(known.cpu, reading.cpu));
    runs.push_back(Change(known.run_ns, reading.run_ns));
    task_before = reading.task;
    known = reading;
  }
  PutColumn(out, tasks);
  PutColumn(out, task_cpus);
  PutColumn(out, runs);
  return out;
}

std::string EncodeFeatureColumns(const FeatureTrace& features) {
  std::string out;
  PutVarint(out, features.columns.size());
  for (const FeatureColumn& column : features.columns) {
    PutString(out, column.name);
    PutString(out, column.device);
  }
  return out;
}

std::string EncodeFeatures(const FeatureTrace& features) {
  std::string out;
  PutVarint(out, features.times.size());
  PutVarint(out, features.columns.size());
  PutSigned(out, features.times.front().value);
  PutColumn(out, Steps(features.times, 0, features.times.size()));
  for (const FeatureColumn& column : features.columns) {
    for (const double value : column.values) PutFixed<double>(out, value);
  }
  return out;
}

std::string EncodeWindow(const RunWindow& window) {
  std::string out;
  PutString(out, window.name);
  PutSigned(out, window.start.value);
  PutSigned(out, window.end.value);
  PutVarint(out, window.warm_up ? 1 : 0);
  PutVarint(out, window.runs);
  return out;
}

std::string EncodeRecordingEnd(const Recording& recording) {
  const SamplerCost& cost = recording.cost;
  std::string out;
  PutSigned(out, recording.end.value);
  PutSigned(out, recording.exit_code);
  PutFixed<double>(out, cost.cpu_time.value);
  PutFixed<double>(out, cost.wall_time.value);
  for (const uint64_t number : {cost.ticks, cost.late, cost.missed, cost.lost}) {
    PutVarint(out, number);
  }
  for (const auto& number : {cost.late_p50_us, cost.late_p99_us, cost.late_max_us}) {
    PutFixed<double>(out, number.value_or(kUnknown));
  }
  PutVarint(out, cost.resident_bytes);
  // A command's process exists only after the start.
  PutPids(out, recording.pids);
  return out;
}

}  // namespace beryl::store
