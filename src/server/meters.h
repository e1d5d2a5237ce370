// What the monitor needs of the machine's meters, so that its sessions can be tested without any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sources/sources.h"
#include "types/live_power.h"
#include "types/power_trace.h"
#include "types/recording.h"

namespace beryl::server {

// Where the samples of one session go. Its sink and all that changes it are used under one lock;
// what only reads the file may be called at the same time.
class SessionBook : public sources::SampleSink {
 public:
  // The reading that came last counts, even if it came sooner than the period.
  virtual void KeepLast() {}
  // Writes down what has come since the last time, and returns the readings of it.
  virtual Result<PowerTrace> Write() = 0;
  // A stretch whose energy will be asked for begins.
  virtual void OpenWindow(uint64_t window, Nanos start) = 0;
  // It ends; said before readings behind that are written.
  virtual void EndWindow(uint64_t window, Nanos end) = 0;
  // The energy of every device in it. What a meter cannot tell of it is NaN.
  virtual std::vector<LiveDevice> CloseWindow(uint64_t window) = 0;
  virtual Result<bool> AddWindow(const RunWindow& window) = 0;
  // The last piece. `why` the session ended, if not because it was asked to.
  virtual Result<bool> Finish(Nanos end, const std::string& why) = 0;

  // As of the last Write: every channel, and every device with the part that is ours.
  virtual std::vector<LiveChannel> channels() const = 0;
  virtual std::vector<LiveDevice> devices() const = 0;
  virtual uint64_t bytes() const = 0;

  // Any thread.
  virtual uint64_t file_bytes() const { return bytes(); }
  // The bytes of the run file from `offset`, at most as many as `buffer` has; 0: no more of them.
  virtual Result<size_t> ReadFile(uint64_t offset, std::span<char> buffer) const = 0;
  // What the file comes to, as `beryl show --format json` has it.
  virtual Result<std::string> Measure() const = 0;
};

struct BookOptions {
  std::string name;
  std::vector<int32_t> pids;
  std::vector<sources::WatchId> watches;
  Nanos period;
  Nanos start;
};

class Meters {
 public:
  virtual ~Meters() = default;

  // Starts reading, afresh: watches of before are gone. `longest_activity`: how far apart samples
  // of tasks may come to be where reading them is dear.
  virtual Result<bool> Start(Nanos period, Nanos longest_activity) = 0;
  virtual void Stop() = 0;
  // These while it reads.
  // A reading of power and tasks at once; returns when it can be drained, or soon at any rate.
  virtual void ReadNow() = 0;
  virtual void SetPeriod(Nanos period) = 0;
  virtual Result<sources::WatchId> Watch(int32_t pid) = 0;
  virtual void Unwatch(sources::WatchId watch) = 0;
  virtual size_t Drain(sources::SampleSink& sink) = 0;
  virtual Result<std::unique_ptr<SessionBook>> NewBook(const BookOptions& options) = 0;
  // A book that keeps no file: for those who only want to know the power of the machine.
  virtual std::unique_ptr<SessionBook> NewGauge() = 0;

  virtual SamplerCost cost() const = 0;
  // The time that samples are stamped with.
  virtual Nanos Now() const = 0;
  virtual const std::vector<PowerChannel>& channels() const = 0;
  // As `beryl sources --format json` has it.
  virtual const std::string& report() const = 0;
  virtual const std::string& machine() const = 0;
};

}  // namespace beryl::server
