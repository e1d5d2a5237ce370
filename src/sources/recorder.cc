#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/channel_record.h"
#include "sources/cpu_times.h"
#include "sources/sources.h"
#include "types/containment.h"

namespace beryl::sources {
namespace {

constexpr size_t kNoColumn = ~size_t{0};

}  // namespace

struct Recorder::State {
  Options options;
  std::vector<ChannelRecord> channels;
  std::vector<size_t> outermost;  // of them
  std::vector<FeatureColumn> columns;
  std::vector<uint16_t> packages;
  std::string cpu_time;
  std::unordered_map<uint32_t, uint32_t> tasks;  // the sampler's number to ours
  std::vector<WatchId> born;                     // watches of which a task was seen
  std::vector<WatchId> later;                    // watches that were added
  double cpu_util = kUnknown;
  size_t cpu_util_column = kNoColumn;
  Recording piece;
  std::optional<Nanos> last_power;
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
  void ClearPiece();
  Piece Take();
};

void Recorder::State::ClearPiece() {
  piece = Recording();
  piece.activity.cpu_package = packages;
  piece.activity.cpu_time = cpu_time;
  piece.features.columns = columns;
}

Recorder::Recorder(const Discovery& discovery, const Sampler& sampler, Options options)
    : state_(std::make_unique<State>()) {
  const Nanos period = std::max({sampler.period(), options.every, options.period});
  state_->options = std::move(options);
  state_->channels.reserve(discovery.channels.size());
  for (const PowerChannel& channel : discovery.channels) {
    state_->channels.emplace_back(channel, period);
  }
  state_->outermost = Containment(discovery.channels).Outermost();
  for (const auto& source : discovery.features) {
    for (const FeatureColumn& column : source->columns()) {
      if (column.name == "cpu_util") state_->cpu_util_column = state_->columns.size();
      state_->columns.push_back(column);
    }
  }
  state_->packages = sampler.cpu_packages();
  state_->cpu_time = sampler.cpu_time();
  state_->ClearPiece();
}

Recorder::~Recorder() = default;

void Recorder::OnPower(Nanos time, std::span<const MeterReading> readings) {
  State& state = *state_;
  // Sooner by a hair is not too soon: ticks come a little early and late.
  if (state.last_power && (time - *state.last_power).value < state.options.every.value / 10 * 9) {
    return;
  }
  state.last_power = time;
  state.last_time = time;
  for (size_t i = 0; i < readings.size() && i < state.channels.size(); ++i) {
    state.channels[i].Add(time, readings[i]);
  }
}

void Recorder::OnTaskBirth(const TaskBirth& birth) {
  State& state = *state_;
  if (!state.IsOurs(birth.watch)) return;
  if (std::count(state.born.begin(), state.born.end(), birth.watch) == 0) {
    state.born.push_back(birth.watch);
  }
  const auto number = static_cast<uint32_t>(state.tasks.size());
  if (!state.tasks.emplace(birth.task, number).second) return;
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
  // The first sample is where all tasks that were there already begin: it has to have them all.
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
    activity.readings.push_back({known->second, cpu, sample.run_ns});
  }
  activity.first_reading.push_back(activity.readings.size());
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

Recorder::Piece Recorder::State::Take() {
  Piece taken;
  taken.power.channels.reserve(channels.size());
  for (ChannelRecord& channel : channels) taken.power.channels.push_back(channel.Take());
  taken.recording = std::move(piece);
  ClearPiece();
  return taken;
}

Recorder::Piece Recorder::Take() { return state_->Take(); }

Recorder::Piece Recorder::Finish() {
  for (ChannelRecord& channel : state_->channels) channel.Finish(state_->last_time);
  return state_->Take();
}

std::vector<double> Recorder::energy_j() const {
  std::vector<double> energy;
  energy.reserve(state_->channels.size());
  for (const ChannelRecord& channel : state_->channels)
    energy.push_back(ValueOrNan(channel.energy()));
  return energy;
}

std::vector<double> Recorder::power_w() const {
  std::vector<double> power;
  power.reserve(state_->channels.size());
  for (const ChannelRecord& channel : state_->channels)
    power.push_back(ValueOrNan(channel.power()));
  return power;
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

}  // namespace beryl::sources
