// Power and resource readings in.
//
// A *channel* is one number of one meter. A *source* is a way to read some channels: a file each
// below. Discover finds what the machine has, Probe looks whether it can be believed, a Sampler
// reads it all on one thread, and a Recorder makes pieces of a PowerTrace and a Recording of what
// was read.
//
// Nothing here knows where the machine's files are: that comes from outside (Machine), so that
// tests have machines of their own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/units.h"
#include "types/power_trace.h"
#include "types/recording.h"
#include "types/source_report.h"
#include "types/unknown.h"

namespace beryl::sources {

// ---- Files of readings -------------------------------------------------------------------------

struct PowerFileOptions {
  // Where energy counters go back to zero, in microjoules; nothing: told by the file's `wrap_uj`
  // column, or else recognised from the ranges that RAPL counters have.
  std::optional<double> wrap_uj;
};

// Reads a power trace, told apart by content:
//   CSV with the columns timestamp_us, device and power_w (a gauge) or energy_uj (a counter), in
//   any order,
//       optionally wrap_uj; lines that start with # are comments;
//   JSON {"CPU:0": {"<timestamp_us>": watts, ...}, ...}.
// Times are microseconds since the epoch, fractions allowed. Rows that cannot be used are counted
// in the report; an Error is a file that is neither of the two, or that has no readings at all.
Result<PowerTrace> ReadPowerFile(ByteSource& source, const PowerFileOptions& options);

// ---- Meters ------------------------------------------------------------------------------------

// Where a machine keeps what we read.
struct Machine {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  std::string nvml = "libnvidia-ml.so.1";
  // As BERYL_SYSFS, BERYL_PROCFS and BERYL_NVML say.
  static Machine FromEnvironment();
};

enum class ReadState : uint8_t {
  kOk,
  kRetry,  // nothing this time: the file was being written, the call was interrupted
  kGone,   // it cannot be read any more; asked again, it may come back
};

struct MeterReading {
  ReadState state = ReadState::kRetry;
  uint64_t count = 0;  // in the channel's unit; of a counter as it stands, wraps and all
};

// One way to read some channels. Used by one thread at a time. Read allocates nothing and does not
// block.
class PowerSource {
 public:
  virtual ~PowerSource() = default;
  // Without readings; the same ones, in the same order, for as long as the source lives.
  virtual const std::vector<PowerChannel>& channels() const = 0;
  // `out` has one place for each channel.
  virtual void Read(std::span<MeterReading> out) = 0;
};

// The PCI bus id of a channel's GPU ("00000000:01:00.0"); empty: it has none, or it is not known.
std::string GpuBusId(const PowerChannel& channel);

// One way to read some resource features (see FeatureTrace). Like PowerSource.
class FeatureSource {
 public:
  virtual ~FeatureSource() = default;
  virtual const std::vector<FeatureColumn>& columns() const = 0;  // without values
  // `watched` are the process ids that count as ours. NaN where something cannot be told.
  virtual void Read(std::span<const int32_t> watched, std::span<double> out) = 0;
};

// Power of a machine without meters: idle, and up to full the busier its CPUs are.
struct PowerGuess {
  std::optional<Watts> idle;  // of all packages together; nothing: a guess from the CPU count
  std::optional<Watts> full;
};

struct DiscoverOptions {
  // External meters, "PATH[,baud=N],format=FORMAT" each (docs/sources/meter.md).
  std::vector<std::string> meters;
  std::string replay;             // a power file to be played as if it were read now
  std::vector<std::string> only;  // names of sources; empty: all
  PowerGuess guess;
};

struct Discovery {
  std::vector<std::unique_ptr<PowerSource>> power;
  std::vector<std::unique_ptr<FeatureSource>> features;
  // The channels of all of `power`, in order; Probe fills in what it saw.
  std::vector<PowerChannel> channels;
  std::vector<DuplicateChannel> duplicates;
  std::vector<RefusedSource> refused;
};

// Finds what can be read. No meter at all is not an error: the estimate stands in for it. An Error
// is an option that makes no sense, or a meter that was asked for by name and is not there.
Result<Discovery> Discover(const Machine& machine, const DiscoverOptions& options);

// Watches every channel until it has seen enough of its steps, at most for `patience`: fills in
// `moves` and the update period of discovery.channels, and compares what should agree. A counter
// that stands still and that nothing else reads stays, last of the channels, with the estimate of
// its device within it (see EstimateName).
SourceReport Probe(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                   Nanos patience);

// ---- Processes ---------------------------------------------------------------------------------

// What the published monitor's clients want of a CPU: the columns of /proc/stat.
struct CpuJiffies {
  uint16_t cpu = 0;
  uint16_t package = 0;
  uint64_t columns[10] = {};  // user nice system idle iowait irq softirq steal guest guest_nice
};

// A task that runs, or that has come since.
struct TaskSample {
  uint32_t task = 0;  // number of the task since the sampler started
  uint16_t cpu = 0;
  uint64_t run_ns = 0;
  uint32_t user_jiffies = 0;
  uint32_t system_jiffies = 0;
};

// Whether a process is there and has not ended.
bool IsRunning(const Machine& machine, int32_t pid);

// Names a watched process tree.
using WatchId = uint32_t;

struct TaskBirth {
  uint32_t task = 0;
  WatchId watch = 0;  // 0: the sampling program itself
  int32_t pid = 0;
  int32_t tid = 0;
  std::string_view name;
};

// ---- Sampling ----------------------------------------------------------------------------------

// Takes what a sampler read, in the order in which it was read, on the thread that calls Drain.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // One reading for each of Discovery::channels.
  virtual void OnPower(Nanos time, std::span<const MeterReading> readings) = 0;
  virtual void OnTaskBirth(const TaskBirth& birth) = 0;
  virtual void OnActivity(Nanos time, std::span<const CpuJiffies> cpus,
                          std::span<const TaskSample> tasks) = 0;
  // One value for each column of Discovery::features, in order.
  virtual void OnFeatures(Nanos time, std::span<const double> values) = 0;
  // `ticks` were not read before `time`.
  virtual void OnMissed(Nanos time, uint64_t ticks) = 0;
};

struct SamplerOptions {
  Nanos period{4'000'000};            // of power; 1 ms to minutes
  Nanos activity_period{20'000'000};  // of CPU times, rounded up to whole ticks
  // To which it may be stretched where there are so many tasks that reading them is dear.
  Nanos longest_activity{500'000'000};
  Nanos feature_period{100'000'000};
  bool jiffies_of_all_tasks =
      false;  // user and system time of every task, as published clients want
};

// Reads everything on one thread, at absolute deadlines, and hands it over through a ring. In the
// loop nothing is allocated once all tasks are known.
class Sampler {
 public:
  Sampler(const Machine& machine, Discovery& discovery, const SamplerOptions& options);
  ~Sampler();

  // Starts the thread. Watch and Unwatch may be called before or after, from any thread.
  Result<bool> Start();
  // A last reading is taken. Drain once more afterwards.
  void Stop();

  // Watches a process and its descendants from now on. An Error: there is no such process.
  Result<WatchId> Watch(int32_t pid);
  // Watches all that this program starts from now on, and what is handed to it as a reaper of
  // orphans (PR_SET_CHILD_SUBREAPER). What is not waited for before a sample was taken is told by
  // its own number.
  WatchId WatchChildren();
  void Unwatch(WatchId watch);

  // A reading of power and tasks beside those that are due. Returns when it can be drained, or
  // after 100 ms. Any thread but the one that samples.
  void ReadNow();

  // Faster or slower from the next tick on. Any thread. Counters that would wrap unseen are read
  // more often than asked.
  void SetPeriod(Nanos period);
  Nanos period() const;

  // Gives what was read since to `sink`; one thread at a time. Returns how many samples.
  size_t Drain(SampleSink& sink);

  SamplerCost cost() const;
  // After Stop: what was not read as often as asked, and why.
  std::vector<Note> notes() const;
  // The time as samples have it: nanoseconds since the epoch, never back.
  Nanos Now() const;
  // The package of each CPU, and what task time is told by.
  const std::vector<uint16_t>& cpu_packages() const;
  const std::string& cpu_time() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---- Recording ---------------------------------------------------------------------------------

// Makes a PowerTrace and a Recording, piece by piece, of what a sampler read: undoes wraps, keeps a
// counter's steps and passes over the readings between them, and says where a meter stood still,
// went down or could not be read.
class Recorder final : public SampleSink {
 public:
  // Watches of the sampler that are ours.
  struct Options {
    std::vector<WatchId> watches;
    Nanos every = {};   // at most one sample in this time; 0: all
    Nanos period = {};  // how far apart readings are meant to be; 0: as the sampler says
  };
  Recorder(const Discovery& discovery, const Sampler& sampler, Options options);
  ~Recorder() override;

  void OnPower(Nanos time, std::span<const MeterReading> readings) override;
  void OnTaskBirth(const TaskBirth& birth) override;
  void OnActivity(Nanos time, std::span<const CpuJiffies> cpus,
                  std::span<const TaskSample> tasks) override;
  void OnFeatures(Nanos time, std::span<const double> values) override;
  void OnMissed(Nanos time, uint64_t ticks) override;

  struct Piece {
    PowerTrace power;
    Recording recording;  // only activity, features and notes are filled in
  };
  // What has come since the last piece. Task indices go on counting from piece to piece, and a
  // piece has only the tasks that are new in it. Gaps count from the first reading of the piece.
  Piece Take();
  // The last piece: closes what was still open, such as a counter that stands still.
  Piece Finish();

  // What a counter that has rested so far counts from now on was used from `time` on.
  void StartFrom(Nanos time);
  // Counts the tasks of one more watch as ours: those of processes that begin from now on.
  void AddWatch(WatchId watch);

  // Whether every meter that moves has told something at or after `time`, or will not: what was
  // used until then is known.
  bool HasReached(Nanos time) const;
  // The last sample of tasks; nothing: there is none.
  std::optional<Nanos> last_activity() const;

  // The joules each channel has read so far; NaN: nothing yet.
  std::vector<double> energy_j() const;
  // The power of each channel just now; NaN: not known.
  std::vector<double> power_w() const;
  // Of the channels that are within no other, together; nothing: none has read anything yet.
  std::optional<Joules> outermost_energy() const;
  // The last cpu_util that was read; NaN: none.
  double cpu_util() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// ---- At rest -----------------------------------------------------------------------------------

// Watches a machine come to rest: what it draws on standby before anything is measured, and whether
// it is back there. Looks at stretches of a second.
class StandbyWatch {
 public:
  // CPU load in percent of all CPUs up to which a machine counts as doing nothing.
  static constexpr double kRestingLoad = 1;
  // How much more than on standby is still standby.
  static constexpr double kTolerance = 1.05;

  // Energy of the machine since any start, and how busy it is (percent; NaN: not known). Time goes
  // forward.
  void Add(Nanos time, std::optional<Joules> energy, double cpu_util);
  // Forgets the stretches so far.
  void Restart();

  // Over the last whole stretch; nothing and NaN: there is none yet.
  std::optional<Watts> power() const { return power_; }
  double load() const { return load_; }
  bool IsResting() const { return load_ <= kRestingLoad; }
  bool IsBackAt(Watts standby) const { return power_ && *power_ <= kTolerance * standby; }

 private:
  bool started_ = false;
  Nanos from_;
  Joules from_energy_;
  double load_sum_ = 0;
  int load_count_ = 0;
  std::optional<Watts> power_;
  double load_ = kUnknown;
};

}  // namespace beryl::sources
