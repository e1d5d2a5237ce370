// One session: its owner, what it watches and where the readings go. Used under the lock of
// Sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "flows/live_recording.h"
#include "server/batch_queue.h"
#include "server/published_samples.h"
#include "server/unnamed_file.h"
#include "types/live_power.h"
#include "types/note.h"

namespace beryl::server {

using Clock = std::chrono::steady_clock;
using SessionId = uint64_t;

// A session as seen from outside.
struct SessionSummary {
  SessionId id = 0;
  std::string name;
  std::vector<int32_t> pids;
  uint32_t uid = 0;
  bool published = false;
  bool running = false;
  Nanos start;
  Nanos end;  // 0: still running
  Nanos period;
  uint64_t bytes = 0;
  uint64_t open_windows = 0;
  std::string ended_because;
  std::vector<LiveDevice> devices;
};

struct StreamOptions {
  Nanos every{1'000'000'000};
  size_t queue = 16;
  bool stop_when_gone = false;
  bool with_readings = true;
};

class Session {
 public:
  // For our own service: a recording written to `file`.
  Session(SessionSummary summary, std::vector<sources::WatchId> watches,
          std::unique_ptr<flows::LiveRecording> recording, std::shared_ptr<UnnamedFile> file);
  // For the published service.
  Session(SessionSummary summary, std::vector<sources::WatchId> watches,
          std::shared_ptr<PublishedSamples> samples);

  const SessionSummary& summary() const { return summary_; }
  SessionSummary Summary() const;
  const std::vector<sources::WatchId>& watches() const { return watches_; }
  sources::SampleSink& sink();
  std::shared_ptr<const UnnamedFile> file() const { return file_; }
  const std::shared_ptr<PublishedSamples>& samples() const { return samples_; }

  // Call after every round of samples: writes and streams what is due. Returns why the session must
  // end, or nothing.
  std::string AfterSamples(Nanos time, uint64_t missed_ticks, uint64_t most_bytes);
  // After the last samples. `why` it ended, if not on request.
  Status End(Nanos time, const std::string& why, const SamplerCost& cost);

  // Writes everything up to now to the file.
  Status WriteDown(Nanos time);

  Result<uint64_t> OpenWindow(const std::string& name, Nanos time);
  // kNotFound if no such window is open.
  Result<LiveWindow> CloseWindow(uint64_t window, Nanos time);

  std::shared_ptr<BatchQueue> AddStream(const StreamOptions& options, Nanos time);
  // How many streams have a client that is still there.
  size_t streams() const;
  // Whether a stream that the session is bound to is gone.
  bool WantsToEnd();

  // For the reader of the recording. Published samples have no notes.
  void AddNote(Note note);

  uint64_t bytes() const { return samples_ ? samples_->bytes() : file_->size(); }

  uint64_t connection = 0;  // the session ends with it; 0: not bound
  bool is_coarse = false;   // gets CoarseReadings
  bool has_sums = false;    // some of its tasks were beyond the limit of its user
  uint64_t read = 0;        // published samples: the number of the Read that took them; 0: none
  Clock::time_point asked = Clock::now();

 private:
  struct Stream {
    std::shared_ptr<BatchQueue> queue;
    StreamOptions options;
    Nanos next;
    PowerTrace readings;  // not sent yet
    uint64_t lost = 0;    // readings that were too many
  };

  void Send(Stream& stream, Nanos time, uint64_t missed_ticks, bool last);

  SessionSummary summary_;
  std::vector<sources::WatchId> watches_;
  std::shared_ptr<UnnamedFile> file_;  // of the recording
  std::unique_ptr<flows::LiveRecording> recording_;
  std::shared_ptr<PublishedSamples> samples_;  // instead of a recording
  std::vector<Stream> streams_;
  Nanos next_write_;
};

}  // namespace beryl::server
