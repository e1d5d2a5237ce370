#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "store/notes_block.h"
#include "store/ops_block.h"
#include "store/recording_blocks.h"

namespace beryl::store {
namespace {

constexpr uint64_t kMostCpus = 1U << 16;  // CPUs are numbered in 16 bits

uint64_t After(uint64_t before, uint64_t change) {
  return before + static_cast<uint64_t>(UnZigZag(change));
}

int32_t TakeInt32(Decoder& decoder) {
  const int64_t wide = decoder.Signed();
  const auto number = static_cast<int32_t>(wide);
  if (number != wide) decoder.Refuse();
  return number;
}

Nanos TakeTime(Decoder& decoder) {
  const int64_t time = decoder.Signed();
  if (!IsTime(time)) decoder.Refuse();
  return Nanos{time};
}

// NaN stands for unknown.
std::optional<double> KnownNumber(Decoder& decoder) {
  const double number = decoder.Fixed<double>();
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

bool TakePids(Decoder& decoder, std::vector<int32_t>& pids) {
  return decoder.Each([&] { pids.push_back(TakeInt32(decoder)); });
}

// Whether a number that is measured, counted or unknown can be one: not infinite, and not beyond
// everything that is.
bool IsPossible(double number, double least) {
  return std::isnan(number) || (number >= least && number <= 1e18);
}

// `count` times, from a first one and increments, strictly increasing.
bool TakeTimes(Decoder& decoder, size_t count, std::vector<Nanos>& times) {
  int64_t time = decoder.Signed();
  ColumnReader steps(decoder, count - 1);
  if (!steps.ok() || !IsTime(time)) return false;
  if (!times.empty() && times.back().value >= time) return false;
  times.reserve(times.size() + count);
  times.push_back(Nanos{time});
  for (size_t i = 1; i < count; ++i) {
    const uint64_t step = steps.Next();
    if (step == 0 || step > static_cast<uint64_t>(kFarthestTime - time)) return false;
    time += static_cast<int64_t>(step);
    times.push_back(Nanos{time});
  }
  return true;
}

}  // namespace

bool DecodeMeter(Decoder& decoder, MeterTraits& meter) {
  meter.source = decoder.String();
  meter.reads = decoder.String();
  meter.origin = decoder.UpTo(Origin::kEstimated);
  meter.unit = decoder.String();
  meter.per_count = decoder.Fixed<double>();
  if (const uint64_t wrap = decoder.Varint(); wrap != 0) meter.wrap = wrap;
  meter.update_period_us = KnownNumber(decoder);
  meter.error = KnownNumber(decoder);
  meter.within = decoder.String();
  const uint32_t moves = decoder.Below(3);
  if (moves != 0) meter.moves = moves == 2;
  constexpr double kWidest = 1e3;
  return !decoder.failed() && meter.per_count > 0 && meter.per_count <= kMostPower.value &&
         IsPossible(meter.update_period_us.value_or(0), 0) && meter.error.value_or(0) >= 0 &&
         meter.error.value_or(0) <= kWidest;
}

bool RecordingReader::Knows(BlockType type) {
  return type >= BlockType::kRecordingStart && type <= BlockType::kSentences;
}

bool RecordingReader::Take(BlockType type, Decoder& decoder) {
  if (type != BlockType::kRecordingStart && !started_) return false;
  switch (type) {
    case BlockType::kRecordingStart:
      return TakeStart(decoder);
    case BlockType::kCpus:
      return TakeCpus(decoder);
    case BlockType::kTasks:
      return TakeTasks(decoder);
    case BlockType::kActivity: {
      ActivityTrace& activity = recording_.activity;
      const size_t samples = activity.times.size();
      const size_t readings = activity.readings.size();
      if (TakeActivity(decoder)) return true;
      // Half a block is useless: its columns would not match.
      activity.times.resize(samples);
      activity.busy_ns.resize(samples * activity.cpus());
      activity.first_reading.resize(samples == 0 ? 0 : samples + 1);
      activity.readings.resize(readings);
      return false;
    }
    case BlockType::kFeatureColumns:
      return TakeFeatureColumns(decoder);
    case BlockType::kFeatures: {
      FeatureTrace& features = recording_.features;
      const size_t samples = features.times.size();
      if (TakeFeatures(decoder)) return true;
      features.times.resize(samples);
      for (FeatureColumn& column : features.columns) column.values.resize(samples);
      return false;
    }
    case BlockType::kWindow:
      return TakeWindow(decoder);
    case BlockType::kRecordingEnd:
      return TakeEnd(decoder);
    case BlockType::kSentences:
      return TakeSentences(decoder);
    default:
      return false;
  }
}

bool RecordingReader::TakeStart(Decoder& decoder) {
  if (started_) return false;
  decoder.Each([&] { recording_.command.emplace_back(decoder.String()); });
  TakePids(decoder, recording_.pids);
  recording_.machine = decoder.String();
  recording_.period = TakeTime(decoder);
  recording_.start = TakeTime(decoder);
  started_ = !decoder.failed();
  return started_;
}

bool RecordingReader::TakeCpus(Decoder& decoder) {
  ActivityTrace& activity = recording_.activity;
  if (!activity.cpu_package.empty()) return false;
  activity.cpu_time = decoder.String();
  const size_t cpus = decoder.Count();
  if (decoder.failed() || cpus > kMostCpus) return false;
  activity.cpu_package.reserve(cpus);
  for (size_t cpu = 0; cpu < cpus; ++cpu) {
    activity.cpu_package.push_back(static_cast<uint16_t>(decoder.Below(kMostCpus)));
  }
  return !decoder.failed();
}

bool RecordingReader::TakeTasks(Decoder& decoder) {
  return decoder.Each([&] {
    Task task;
    task.pid = TakeInt32(decoder);
    task.tid = TakeInt32(decoder);
    task.owner = decoder.UpTo(TaskOwner::kRecorder);
    task.name = decoder.String();
    if (!decoder.failed()) recording_.activity.tasks.push_back(std::move(task));
  });
}

bool RecordingReader::TakeActivity(Decoder& decoder) {
  ActivityTrace& activity = recording_.activity;
  const size_t count = decoder.Count();
  const uint64_t cpus = decoder.Varint();
  if (decoder.failed() || count == 0 || cpus != activity.cpus()) return false;
  if (!TakeTimes(decoder, count, activity.times)) return false;
  ColumnReader busy(decoder, count * cpus);
  ColumnReader counts(decoder, count);
  if (!busy.ok() || !counts.ok()) return false;
  const size_t before = activity.busy_ns.size();
  activity.busy_ns.resize(before + count * cpus);
  for (size_t cpu = 0; cpu < cpus; ++cpu) {
    uint64_t now = 0;
    for (size_t i = 0; i < count; ++i) {
      now = After(now, busy.Next());
      activity.busy_ns[before + i * cpus + cpu] = now;
    }
  }
  const size_t readings = decoder.Count();
  if (activity.first_reading.empty()) activity.first_reading.push_back(0);
  const size_t first = activity.readings.size();
  for (size_t i = 0; i < count; ++i) {
    const uint64_t some = counts.Next();
    const size_t so_far = activity.first_reading.back();
    if (some > first + readings - so_far) return false;
    activity.first_reading.push_back(so_far + some);
  }
  if (decoder.failed() || activity.first_reading.back() != first + readings) return false;
  ColumnReader tasks(decoder, readings);
  ColumnReader task_cpus(decoder, readings);
  ColumnReader runs(decoder, readings);
  if (!tasks.ok() || !task_cpus.ok() || !runs.ok()) return false;
  tasks_.resize(activity.tasks.size());
  ++activity_blocks_;
  activity.readings.reserve(first + readings);
  uint64_t task = 0;
  for (size_t i = 0; i < readings; ++i) {
    task = After(task, tasks.Next());
    if (task >= tasks_.size()) return false;
    TaskState& state = tasks_[task];
    if (state.block != activity_blocks_) state = {activity_blocks_, 0, 0};
    state.cpu = After(state.cpu, task_cpus.Next());
    state.run_ns = After(state.run_ns, runs.Next());
    if (state.cpu >= cpus) return false;
    activity.readings.push_back(
        {static_cast<uint32_t>(task), static_cast<uint16_t>(state.cpu), state.run_ns});
  }
  return true;
}

bool RecordingReader::TakeFeatureColumns(Decoder& decoder) {
  FeatureTrace& features = recording_.features;
  columns_.clear();
  return decoder.Each([&] {
    FeatureColumn column;
    column.name = decoder.String();
    column.device = decoder.String();
    if (decoder.failed()) return;
    const auto known = std::find_if(
        features.columns.begin(), features.columns.end(), [&](const FeatureColumn& other) {
          return other.name == column.name && other.device == column.device;
        });
    const auto number = static_cast<size_t>(known - features.columns.begin());
    if (std::find(columns_.begin(), columns_.end(), number) != columns_.end()) {
      return decoder.Refuse();
    }
    columns_.push_back(number);
    if (known != features.columns.end()) return;
    column.values.assign(features.times.size(), std::numeric_limits<double>::quiet_NaN());
    features.columns.push_back(std::move(column));
  });
}

bool RecordingReader::TakeFeatures(Decoder& decoder) {
  FeatureTrace& features = recording_.features;
  const size_t before = features.times.size();
  const size_t count = decoder.Count();
  const uint64_t columns = decoder.Varint();
  if (decoder.failed() || count == 0 || columns != columns_.size()) return false;
  if (!TakeTimes(decoder, count, features.times)) return false;
  for (const size_t number : columns_) {
    std::vector<double>& values = features.columns[number].values;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(decoder.Fixed<double>());
      if (!IsPossible(values.back(), -1e18)) return false;
    }
    if (decoder.failed()) return false;
  }
  for (FeatureColumn& column : features.columns) {
    column.values.resize(before + count, std::numeric_limits<double>::quiet_NaN());
  }
  return true;
}

bool RecordingReader::TakeWindow(Decoder& decoder) {
  RunWindow window;
  window.name = decoder.String();
  window.start = TakeTime(decoder);
  window.end = TakeTime(decoder);
  window.warm_up = decoder.Below(2) == 1;
  window.runs = decoder.Below(uint64_t{1} << 32);
  if (decoder.failed() || window.end < window.start) return false;
  recording_.windows.push_back(std::move(window));
  return true;
}

bool RecordingReader::TakeEnd(Decoder& decoder) {
  const Nanos end = TakeTime(decoder);
  const int32_t exit_code = TakeInt32(decoder);
  SamplerCost cost;
  cost.cpu_time = Seconds{decoder.Fixed<double>()};
  cost.wall_time = Seconds{decoder.Fixed<double>()};
  for (uint64_t* number : {&cost.ticks, &cost.late, &cost.missed, &cost.lost}) {
    *number = decoder.Varint();
  }
  for (auto* number : {&cost.late_p50_us, &cost.late_p99_us, &cost.late_max_us}) {
    *number = KnownNumber(decoder);
  }
  cost.resident_bytes = decoder.Varint();
  for (const double number : {cost.cpu_time.value, cost.wall_time.value}) {
    if (std::isnan(number) || !IsPossible(number, 0)) return false;
  }
  for (const auto& number : {cost.late_p50_us, cost.late_p99_us, cost.late_max_us}) {
    if (!IsPossible(number.value_or(0), 0)) return false;
  }
  std::vector<int32_t> pids;
  if (!TakePids(decoder, pids)) return false;
  if (!pids.empty()) recording_.pids = std::move(pids);
  recording_.end = end;
  recording_.exit_code = exit_code;
  recording_.cost = cost;
  ended_ = true;
  return true;
}

bool RecordingReader::TakeSentences(Decoder& decoder) {
  return decoder.Each([&] {
    const std::string_view said = decoder.String();
    if (!decoder.failed()) Add(RecordedText(NoteClass::kTold, said));
  });
}

void RecordingReader::Add(const Note& note) {
  std::vector<Note>& notes = recording_.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

}  // namespace beryl::store
