// The samples of one process as the published monitor's clients want them: a DataSet of
// api/smaragdine.proto, written to a file as it grows. Messages one after the other are one message
// with all their lists, so nothing is kept in memory.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "server/spool_file.h"
#include "sources/sources.h"

namespace beryl::server {

class PublishedSpool final : public sources::SampleSink {
 public:
  struct Options {
    std::string folder;
    int32_t pid = 0;
    sources::WatchId watch = 0;
    Nanos period;
    uint64_t most_bytes = std::numeric_limits<uint64_t>::max();
    // Also the cores and the uncore of a package. Published clients add up whatever is there, and
    // would count them twice.
    bool parts_of_packages = false;
  };
  static Result<PublishedSpool> Create(const std::vector<PowerChannel>& channels,
                                       const Options& options);

  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override;
  void OnTaskBirth(const sources::TaskBirth& birth) override;
  void OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                  std::span<const sources::TaskSample> tasks) override;
  void OnFeatures(Nanos, std::span<const double>) override {}
  void OnMissed(Nanos, uint64_t) override {}

  // No more will come: the last sample of every kind counts, even if it came sooner than the
  // period, and every thread stands in it. Like Flush.
  Result<bool> Finish();
  // More will come, of the same process and behind what is there; as if it were a new spool.
  void Resume(sources::WatchId watch, Nanos period);
  // What is still in memory goes to the file. An Error: it could not be written before or now.
  Result<bool> Flush();
  bool is_full() const { return full_; }
  const SpoolFile& file() const { return file_; }
  uint64_t bytes() const { return file_.size() + pending_.size(); }

 private:
  // What of a socket a RAPL channel reads, by the number of its field.
  enum class Part : uint32_t { kNone = 0, kCore = 2, kPackage = 3, kDram = 4, kUncore = 5 };
  struct RaplMeter {
    Part part = Part::kNone;
    uint32_t socket = 0;
    double uj_per_count = 1;
    uint64_t wrap = 0;
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

  PublishedSpool(SpoolFile file, const std::vector<PowerChannel>& channels, const Options& options);
  struct Thread {
    int32_t tid = 0;
    sources::TaskSample last;
    Nanos ran;   // when it was last seen to have run
    Nanos told;  // when it last stood in a sample
    bool awake = false;
  };

  void AddMeter(const PowerChannel& channel);
  bool IsDue(Nanos time, Nanos& next) const;
  void WriteRapl(Nanos time, std::span<const sources::MeterReading> readings, std::string& out);
  void WriteNvml(Nanos time, std::span<const sources::MeterReading> readings, std::string& out);
  void WriteThread(Thread& thread, Nanos time);
  // Threads that ran of late, whether since the last sample or not.
  bool WriteAwake(Nanos time);
  void Append(const std::string& samples);

  Options options_;
  SpoolFile file_;
  std::vector<RaplMeter> rapl_;  // for each channel
  std::vector<GpuMeter> gpus_;   // for each channel
  std::vector<uint32_t> sockets_;
  bool has_gpu_ = false;
  std::unordered_map<uint32_t, Thread> threads_;  // of our process, by task
  std::vector<uint32_t> awake_;                   // those of them that ran of late, or came
  Nanos next_power_;
  Nanos next_activity_;
  Nanos last_activity_;
  std::string held_power_;  // samples that came too soon: they count if they are the last
  std::string held_activity_;
  std::string pending_;
  std::string sample_;  // kept, so that nothing is allocated again and again
  std::string reading_;
  std::string problem_;
  bool full_ = false;
};

}  // namespace beryl::server
