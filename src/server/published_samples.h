// The samples of one process in the format of the published monitor's clients: a DataSet of
// api/smaragdine.proto, written to a file as it grows. Concatenated messages are one message with
// all their lists, so nothing is kept in memory.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "server/unnamed_file.h"
#include "sources/power_source.h"
#include "sources/processes.h"
#include "sources/sampler.h"

namespace beryl::server {

class PublishedSamples final : public sources::SampleSink {
 public:
  struct Options {
    std::string folder;
    int32_t pid = 0;
    sources::WatchId watch = 0;
    Nanos period;
    uint64_t most_bytes = std::numeric_limits<uint64_t>::max();
    // Also the cores and the uncore of a package. Published clients add up all channels, and would
    // count these twice.
    bool parts_of_packages = false;
  };
  static Result<PublishedSamples> Create(const std::vector<PowerChannel>& channels,
                                         const Options& options);

  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override;
  void OnTaskBirth(const sources::TaskBirth& birth) override;
  void OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                  std::span<const sources::TaskSample> tasks) override;
  void OnFeatures(Nanos, std::span<const double>) override {}
  void OnMissed(Nanos, uint64_t) override {}

  // No more will come: the last sample of every kind counts, even if it came before the period
  // ended, and it has every thread. Flushes.
  Status Finish();
  // More will come for the same process, after the existing samples, as in a new file.
  void Resume(sources::WatchId watch, Nanos period);
  // Writes what is still in memory to the file. An Error if writing fails or has failed.
  Status Flush();
  bool is_full() const { return full_; }
  const UnnamedFile& file() const { return file_; }
  uint64_t bytes() const { return file_.size() + pending_.size(); }

 private:
  // The part of a socket that a RAPL channel reads, by field number.
  enum class Part : uint32_t { kNone = 0, kCore = 2, kPackage = 3, kDram = 4, kUncore = 5 };
  struct RaplMeter {
    Part part = Part::kNone;
    uint32_t socket = 0;
    double uj_per_count = 1;
    std::optional<uint64_t> wrap;
    bool seen = false;
    uint64_t last = 0;
    Nanos since;                // when `last` was first seen
    uint64_t before_wraps = 0;  // counts
  };
  struct GpuMeter {
    bool used = false;
    bool counter = false;
    uint32_t index = 0;
    std::string bus_id;
    double per_count = 1;  // joules or watts
    bool seen = false;
    uint64_t last = 0;
    Nanos since;  // when `last` was first seen
    std::optional<Watts> power;
  };

  PublishedSamples(UnnamedFile file, const std::vector<PowerChannel>& channels,
                   const Options& options);
  struct Thread {
    int32_t tid = 0;
    sources::TaskSample last;
    Nanos ran;   // when it was last seen to run
    Nanos told;  // when it was last in a sample
    bool awake = false;
  };

  void AddMeter(const PowerChannel& channel);
  bool IsDue(Nanos time, Nanos& next) const;
  void WriteRapl(Nanos time, std::span<const sources::MeterReading> readings, std::string& out);
  void WriteNvml(Nanos time, std::span<const sources::MeterReading> readings, std::string& out);
  void WriteThread(Thread& thread, Nanos time);
  // Threads that ran recently, whether since the last sample or not.
  bool WriteAwake(Nanos time);
  void Append(const std::string& samples);

  Options options_;
  UnnamedFile file_;
  std::vector<RaplMeter> rapl_;  // for each channel
  std::vector<GpuMeter> gpus_;   // for each channel
  std::vector<uint32_t> sockets_;
  bool has_gpu_ = false;
  std::unordered_map<uint32_t, Thread> threads_;  // of our process, by task
  std::vector<uint32_t> awake_;                   // those that ran recently, or are new
  Nanos next_power_;
  Nanos next_activity_;
  Nanos last_activity_;
  std::string held_power_;  // samples that came too soon: they count if they are the last
  std::string held_activity_;
  std::string pending_;
  std::string sample_;  // kept, to avoid repeated allocation
  std::string reading_;
  std::string problem_;
  bool full_ = false;
};

}  // namespace beryl::server
