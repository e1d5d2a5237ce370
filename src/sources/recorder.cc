#include "sources/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/channel_record.h"
#include "sources/cpu_times.h"
#include "types/containment.h"
#include "types/unknown.h"

namespace beryl::sources {
namespace {

constexpr size_t kNoColumn = ~size_t{0};

template <typename Value>
std::vector<double> EachOf(const std::vector<ChannelRecord>& channels,
                           std::optional<Value> (ChannelRecord::*value)() const) {
  std::vector<double> values;
  values.reserve(channels.size());
  for (const ChannelRecord& channel : channels) values.push_back(ValueOrNan((channel.*value)()));
  return values;
}

}  // namespace

struct Recorder::State {
  Options options;
  std::vector<ChannelRecord> channels;
  std::vector<size_t> outermost;  // of them
  Recording blank;                // columns and CPUs
  struct KnownTask {
    uint32_t number;  // ours
    std::string name;
  };
  std::unordered_map<uint32_t, KnownTask> tasks;  // by the sampler's number
  uint32_t next_task = 0;
  std::vector<WatchId> born;   // watches with an observed task
  std::vector<WatchId> later;  // watches added later
  double cpu_util = kUnknown;
  size_t cpu_util_column = kNoColumn;
  Recording piece;
  std::optional<Nanos> last_power;
  Nanos held_time;  // time of a reading that came too soon: it counts if it is the last
  std::vector<MeterReading> held;
  std::optional<Nanos> last_activity;
  Nanos last_time;

  bool IsOurs(WatchId watch) const {
    return watch == 0 || std::count(options.watches.begin(), options.watches.end(), watch) > 0 ||
           std::count(later.begin(), later.end(), watch) > 0;
  }
  bool Ready() const {
    return std::all_of(options.watches.begin(), options.watches.end(), [&](WatchId watch) {
      return std::count(born.begin(), born.end(), watch) > 0;
    });
  }
  void Keep(Nanos time, std::span<const MeterReading> readings);
  RecordingPiece Take();
};

Recorder::Recorder(const RecordingPiece& blank, Options options)
    : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->channels.reserve(blank.power.channels.size());
  for (const PowerChannel& channel : blank.power.channels) {
    state_->channels.emplace_back(channel, blank.recording.period);
  }
  state_->outermost = Containment(blank.power.channels).Outermost();
  state_->blank.activity = blank.recording.activity;
  state_->blank.features = blank.recording.features;
  const std::vector<FeatureColumn>& columns = state_->blank.features.columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == "cpu_util") state_->cpu_util_column = i;
  }
  state_->piece = state_->blank;
}

Recorder::~Recorder() = default;

void Recorder::OnPower(Nanos time, std::span<const MeterReading> readings) {
  State& state = *state_;
  // Allow a small tolerance: ticks come a little early or late.
  if (state.last_power && (time - *state.last_power).value < state.options.every.value / 10 * 9) {
    state.held_time = time;
    state.held.assign(readings.begin(), readings.end());
    return;
  }
  state.held.clear();
  state.last_power = time;
  state.Keep(time, readings);
}

void Recorder::State::Keep(Nanos time, std::span<const MeterReading> readings) {
  last_time = time;
  for (size_t i = 0; i < readings.size() && i < channels.size(); ++i) {
    channels[i].Add(time, readings[i]);
  }
}

void Recorder::KeepLast() {
  if (state_->held.empty()) return;
  state_->Keep(state_->held_time, state_->held);
  state_->held.clear();
}

void Recorder::OnTaskBirth(const TaskBirth& birth) {
  State& state = *state_;
  if (!state.IsOurs(birth.watch)) return;
  if (std::count(state.born.begin(), state.born.end(), birth.watch) == 0) {
    state.born.push_back(birth.watch);
  }
  // Below a watched process, the program that measures is still not ours.
  if (birth.watch != 0 && birth.pid == ::getpid()) return;
  const auto [known, is_new] =
      state.tasks.try_emplace(birth.task, State::KnownTask{state.next_task, ""});
  // A process that is reported again is listed again if it has a new name.
  if (!is_new && (birth.tid != birth.pid || known->second.name == birth.name)) return;
  known->second.name = birth.name;
  ++state.next_task;
  Task task;
  task.pid = birth.pid;
  task.tid = birth.tid;
  task.name = Printable(birth.name);
  task.owner = birth.watch == 0 ? TaskOwner::kRecorder : TaskOwner::kWatched;
  state.piece.activity.tasks.push_back(std::move(task));
}

void Recorder::OnActivity(Nanos time, std::span<const CpuJiffies> cpus,
                          std::span<const TaskSample> tasks) {
  State& state = *state_;
  state.last_activity = time;
  // The first sample is the baseline of all existing tasks, so it must contain all of them.
  if (!state.Ready()) return;
  ActivityTrace& activity = state.piece.activity;
  if (activity.first_reading.empty()) activity.first_reading.push_back(0);
  activity.times.push_back(time);
  const size_t row = activity.busy_ns.size();
  activity.busy_ns.resize(row + activity.cpus());
  for (const CpuJiffies& cpu : cpus) {
    if (cpu.cpu < activity.cpus()) activity.busy_ns[row + cpu.cpu] = BusyNanos(cpu);
  }
  for (const TaskSample& sample : tasks) {
    const auto known = state.tasks.find(sample.task);
    if (known == state.tasks.end()) continue;
    const uint16_t cpu = sample.cpu < activity.cpus() ? sample.cpu : uint16_t{0};
    activity.readings.push_back({known->second.number, cpu, sample.run_ns});
  }
  activity.first_reading.push_back(activity.readings.size());
}

// So that the memory of a recording does not grow with the processes that come and go.
void Recorder::OnTasksEnded(std::span<const uint32_t> tasks) {
  for (const uint32_t task : tasks) state_->tasks.erase(task);
}

void Recorder::OnFeatures(Nanos time, std::span<const double> values) {
  FeatureTrace& features = state_->piece.features;
  features.times.push_back(time);
  for (size_t i = 0; i < features.columns.size() && i < values.size(); ++i) {
    features.columns[i].values.push_back(values[i]);
    if (i == state_->cpu_util_column) state_->cpu_util = values[i];
  }
}

// The sampler counts them.
void Recorder::OnMissed(Nanos /*time*/, uint64_t /*ticks*/) {}

RecordingPiece Recorder::State::Take() {
  RecordingPiece taken;
  taken.power.channels.reserve(channels.size());
  for (ChannelRecord& channel : channels) taken.power.channels.push_back(channel.Take());
  taken.recording = std::exchange(piece, blank);
  return taken;
}

RecordingPiece Recorder::Take() { return state_->Take(); }

RecordingPiece Recorder::Finish() {
  KeepLast();
  for (ChannelRecord& channel : state_->channels) channel.Finish(state_->last_time);
  return state_->Take();
}

std::vector<double> Recorder::energy_j() const {
  return EachOf(state_->channels, &ChannelRecord::energy);
}

std::vector<double> Recorder::power_w() const {
  return EachOf(state_->channels, &ChannelRecord::power);
}

void Recorder::AddWatch(WatchId watch) { state_->later.push_back(watch); }

std::optional<Joules> Recorder::outermost_energy() const {
  std::optional<Joules> energy;
  for (const size_t channel : state_->outermost) {
    AddKnown(energy, state_->channels[channel].energy());
  }
  return energy;
}

void Recorder::StartFrom(Nanos time) {
  for (ChannelRecord& channel : state_->channels) channel.StartFrom(time);
}

bool Recorder::HasReached(Nanos time) const {
  return std::all_of(
      state_->channels.begin(), state_->channels.end(),
      [&](const ChannelRecord& channel) { return channel.HasReached(time, state_->last_time); });
}

std::optional<Nanos> Recorder::last_activity() const { return state_->last_activity; }

double Recorder::cpu_util() const { return state_->cpu_util; }

RecordingPiece BlankPiece(const Discovery& discovery, const Sampler& sampler) {
  RecordingPiece blank;
  blank.power.report.file = "meters";
  blank.power.channels = discovery.channels;
  blank.recording.period = sampler.period();
  blank.recording.activity.cpu_package = sampler.cpu_packages();
  blank.recording.activity.cpu_time = sampler.cpu_time();
  for (const auto& source : discovery.features) {
    const std::vector<FeatureColumn>& columns = source->columns();
    blank.recording.features.columns.insert(blank.recording.features.columns.end(), columns.begin(),
                                            columns.end());
  }
  return blank;
}

}  // namespace beryl::sources
