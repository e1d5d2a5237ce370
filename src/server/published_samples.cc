#include "server/published_samples.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "base/wire_writer.h"
#include "types/counter_wrap.h"

namespace beryl::server {
namespace {

// Field numbers from api/smaragdine.proto.
enum DataSetField : uint32_t { kRapl = 1, kCpu = 2, kProcess = 3, kNvml = 5 };
enum SampleField : uint32_t { kTimestamp = 1, kReading = 2 };
enum CpuReadingField : uint32_t { kCpuReadingSocket = 12 };

constexpr size_t kFlushAt = 64 * 1024;
constexpr Nanos kPowerIsOldAfter{2'000'000'000};
// A thread that has not run for this long, or is gone, is omitted until it runs again.
constexpr Nanos kAsleepAfter{10'000'000'000};

uint32_t NumberOf(std::string_view name) {
  const auto parts = SplitNumber(name);
  return parts ? static_cast<uint32_t>(parts->number) : 0;
}

uint64_t Milliseconds(Nanos time) { return static_cast<uint64_t>(time.value / 1'000'000); }

}  // namespace

Result<PublishedSamples> PublishedSamples::Create(const std::vector<PowerChannel>& channels,
                                                  const Options& options) {
  auto file = TRY(UnnamedFile::Create(options.folder));
  return PublishedSamples(std::move(file), channels, options);
}

PublishedSamples::PublishedSamples(UnnamedFile file, const std::vector<PowerChannel>& channels,
                                   const Options& options)
    : options_(options), file_(std::move(file)) {
  for (const PowerChannel& channel : channels) AddMeter(channel);
  std::sort(sockets_.begin(), sockets_.end());
  sockets_.erase(std::unique(sockets_.begin(), sockets_.end()), sockets_.end());
}

void PublishedSamples::AddMeter(const PowerChannel& channel) {
  RaplMeter rapl;
  GpuMeter gpu;
  const bool counter = channel.kind == ChannelKind::kEnergyCounter;
  if (channel.meter.source.starts_with("rapl") && counter) {
    rapl.part = channel.scope == ChannelScope::kPackage            ? Part::kPackage
                : channel.scope == ChannelScope::kDram             ? Part::kDram
                : channel.scope != ChannelScope::kCore             ? Part::kNone
                : channel.name.find("UNCORE") != std::string::npos ? Part::kUncore
                                                                   : Part::kCore;
    rapl.socket = NumberOf(channel.name);
    rapl.uj_per_count = channel.meter.per_count * 1e6;
    rapl.wrap = channel.meter.wrap;
    const bool in_package = rapl.part == Part::kCore || rapl.part == Part::kUncore;
    if (in_package && !options_.parts_of_packages) rapl.part = Part::kNone;
    if (rapl.part != Part::kNone) sockets_.push_back(rapl.socket);
  }
  if (channel.scope == ChannelScope::kGpu && channel.meter.source.starts_with("nvml")) {
    gpu.index = NumberOf(channel.name);
    gpu.counter = counter;
    gpu.per_count = channel.meter.per_count;
    gpu.bus_id = sources::GpuBusId(channel);
    if (gpu.bus_id.empty()) gpu.bus_id = channel.name;
    // One reading per GPU: prefers watts as read over those computed from a counter.
    gpu.used = true;
    for (GpuMeter& other : gpus_) {
      if (!other.used || other.index != gpu.index) continue;
      gpu.used = other.counter && !counter;
      other.used = !gpu.used;
    }
    has_gpu_ = true;
  }
  rapl_.push_back(rapl);
  gpus_.push_back(std::move(gpu));
}

// The sampler may run faster than this session requested, for another session.
bool PublishedSamples::IsDue(Nanos time, Nanos& next) const {
  const Nanos slack{options_.period.value / 8};
  if (time + slack < next) return false;
  next = next + options_.period;
  if (next <= time) next = time + options_.period;
  return true;
}

void PublishedSamples::OnPower(Nanos time, std::span<const sources::MeterReading> readings) {
  // Counters are followed at every reading, due or not, so that no wrap is missed.
  const bool due = IsDue(time, next_power_);
  for (size_t i = 0; i < readings.size() && i < rapl_.size(); ++i) {
    RaplMeter& meter = rapl_[i];
    if (meter.part == Part::kNone || readings[i].state != sources::ReadState::kOk) continue;
    const uint64_t count = readings[i].count;
    if (meter.seen && count < meter.last) {
      const CounterFall fall{static_cast<double>(meter.last), static_cast<double>(count),
                             Joules{meter.uj_per_count * 1e-6}, ToSeconds(time - meter.since),
                             std::nullopt};
      // A counter that was reset continues from where it was.
      const bool wrapped = meter.wrap && WrapRange(fall, meter.wrap);
      meter.before_wraps += wrapped ? *meter.wrap : meter.last;
    }
    if (!meter.seen || count != meter.last) meter.since = time;
    meter.seen = true;
    meter.last = count;
  }
  for (size_t i = 0; i < readings.size() && i < gpus_.size(); ++i) {
    GpuMeter& gpu = gpus_[i];
    if (!gpu.used || readings[i].state != sources::ReadState::kOk) continue;
    const auto count = static_cast<double>(readings[i].count);
    if (!gpu.counter) {
      gpu.power = Watts{count * gpu.per_count};
    } else if (gpu.seen && readings[i].count > gpu.last) {
      const Joules energy{(count - static_cast<double>(gpu.last)) * gpu.per_count};
      gpu.power = energy / (time - gpu.since);
      gpu.since = time;
    } else if (!gpu.seen || readings[i].count < gpu.last) {
      gpu.since = time;
    } else if (time - gpu.since > kPowerIsOldAfter) {
      gpu.power.reset();
    }
    gpu.last = readings[i].count;
    gpu.seen = true;
  }
  if (full_) return;
  held_power_.clear();
  if (!sockets_.empty()) WriteRapl(time, readings, held_power_);
  if (has_gpu_) WriteNvml(time, readings, held_power_);
  if (!due) return;
  Append(held_power_);
  held_power_.clear();
}

void PublishedSamples::WriteRapl(Nanos time, std::span<const sources::MeterReading> readings,
                                 std::string& out) {
  sample_.clear();
  PutInteger(sample_, kTimestamp, Milliseconds(time));
  bool any = false;
  for (const uint32_t socket : sockets_) {
    reading_.clear();
    PutInteger(reading_, 1, socket);
    bool told = false;
    for (size_t i = 0; i < rapl_.size() && i < readings.size(); ++i) {
      const RaplMeter& meter = rapl_[i];
      if (meter.part == Part::kNone || meter.socket != socket) continue;
      if (readings[i].state != sources::ReadState::kOk) continue;
      const double counts =
          static_cast<double>(meter.before_wraps) + static_cast<double>(meter.last);
      PutInteger(reading_, static_cast<uint32_t>(meter.part),
                 static_cast<uint64_t>(std::llround(counts * meter.uj_per_count)));
      told = true;
    }
    if (!told) continue;
    PutBytes(sample_, kReading, reading_);
    any = true;
  }
  if (any) PutBytes(out, kRapl, sample_);
}

void PublishedSamples::WriteNvml(Nanos time, std::span<const sources::MeterReading> readings,
                                 std::string& out) {
  sample_.clear();
  PutInteger(sample_, kTimestamp, Milliseconds(time));
  bool any = false;
  for (size_t i = 0; i < gpus_.size() && i < readings.size(); ++i) {
    const GpuMeter& gpu = gpus_[i];
    if (!gpu.used || readings[i].state != sources::ReadState::kOk || !gpu.power) continue;
    reading_.clear();
    PutBytes(reading_, 1, gpu.bus_id);
    PutInteger(reading_, 2, static_cast<uint64_t>(std::llround(gpu.power->value * 1000)));
    PutInteger(reading_, 3, gpu.index);
    PutBytes(sample_, kReading, reading_);
    any = true;
  }
  if (any) PutBytes(out, kNvml, sample_);
}

void PublishedSamples::OnTaskBirth(const sources::TaskBirth& birth) {
  // The published monitor watches the threads of one process, not its children. A task without a
  // thread id is the sampler's own sum of what it did not see.
  if (birth.watch != options_.watch || birth.pid != options_.pid || birth.tid == 0) return;
  threads_[birth.task].tid = birth.tid;
}

void PublishedSamples::WriteThread(Thread& thread, Nanos time) {
  thread.told = time;
  reading_.clear();
  PutInteger(reading_, 1, static_cast<uint32_t>(thread.tid));
  PutInteger(reading_, 3, thread.last.cpu);
  PutInteger(reading_, 4, thread.last.user_jiffies);
  PutInteger(reading_, 5, thread.last.system_jiffies);
  PutBytes(sample_, kReading, reading_);
}

// The sampler only reports threads that ran since the last sample; the others are unchanged.
// Clients take differences over 101 ms, which need a thread in two samples.
bool PublishedSamples::WriteAwake(Nanos time) {
  std::erase_if(awake_, [&](uint32_t task) {
    Thread& thread = threads_[task];
    thread.awake = time - thread.ran <= kAsleepAfter;
    if (thread.awake) WriteThread(thread, time);
    return !thread.awake;
  });
  return !awake_.empty();
}

void PublishedSamples::OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                                  std::span<const sources::TaskSample> tasks) {
  const bool due = IsDue(time, next_activity_);
  if (full_) return;
  last_activity_ = time;
  held_activity_.clear();
  sample_.clear();
  PutInteger(sample_, kTimestamp, Milliseconds(time));
  for (const sources::CpuJiffies& cpu : cpus) {
    reading_.clear();
    PutInteger(reading_, 1, cpu.cpu);
    for (uint32_t column = 0; column < 10; ++column) {
      PutInteger(reading_, column + 2, static_cast<uint32_t>(cpu.columns[column]));
    }
    PutInteger(reading_, kCpuReadingSocket, cpu.package);
    PutBytes(sample_, kReading, reading_);
  }
  if (!cpus.empty()) PutBytes(held_activity_, kCpu, sample_);

  sample_.clear();
  PutInteger(sample_, kTimestamp, Milliseconds(time));
  for (const sources::TaskSample& task : tasks) {
    const auto found = threads_.find(task.task);
    if (found == threads_.end()) continue;
    found->second.last = task;
    found->second.ran = time;
    if (!std::exchange(found->second.awake, true)) awake_.push_back(task.task);
  }
  if (WriteAwake(time)) PutBytes(held_activity_, kProcess, sample_);
  if (!due) return;
  Append(held_activity_);
  held_activity_.clear();
}

void PublishedSamples::Append(const std::string& samples) {
  if (samples.empty() || full_) return;
  if (bytes() + samples.size() > options_.most_bytes) {
    full_ = true;
    return;
  }
  pending_ += samples;
  if (pending_.size() < kFlushAt) return;
  if (const auto written = Flush(); !written) full_ = true;
}

// A thread that did not run is unchanged: a client that subtracts the first sample from the last
// must find it in both.
Status PublishedSamples::Finish() {
  Append(held_power_);
  held_power_.clear();
  Append(held_activity_);
  held_activity_.clear();
  sample_.clear();
  PutInteger(sample_, kTimestamp, Milliseconds(last_activity_));
  bool any = false;
  for (auto& [task, thread] : threads_) {
    if (thread.told.value == 0 || thread.told == last_activity_) continue;
    WriteThread(thread, last_activity_);
    any = true;
  }
  if (any) {
    std::string last;
    PutBytes(last, kProcess, sample_);
    Append(last);
  }
  threads_.clear();
  awake_.clear();
  return Flush();
}

void PublishedSamples::Resume(sources::WatchId watch, Nanos period) {
  options_.watch = watch;
  options_.period = period;
  threads_.clear();
  awake_.clear();
  next_power_ = next_activity_ = last_activity_ = {};
  for (GpuMeter& gpu : gpus_) {
    gpu.seen = false;
    gpu.power.reset();
  }
}

Status PublishedSamples::Flush() {
  if (!problem_.empty()) return IoError(problem_);
  if (pending_.empty()) return {};
  auto written = file_.file().Append(pending_);
  pending_.clear();
  if (!written) problem_ = written.error().message;
  return written;
}

}  // namespace beryl::server
