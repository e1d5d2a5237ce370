// One session: whose it is, what it watches and where that goes. Used under the lock of Sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "server/batch_queue.h"
#include "server/meters.h"
#include "server/published_spool.h"
#include "types/live_power.h"

namespace beryl::server {

using Clock = std::chrono::steady_clock;
using SessionId = uint64_t;

// What a session looks like from outside.
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

struct WindowEnd {
  std::string name;
  Nanos start;
  Nanos end;
  std::vector<LiveDevice> devices;  // in the window
  // Of all devices together; nothing: not known of one of them.
  std::optional<Joules> energy;
  std::optional<Joules> ours;
};

struct StreamOptions {
  Nanos every{1'000'000'000};
  size_t queue = 16;
  bool stop_when_gone = false;
  bool with_readings = true;
};

class Session {
 public:
  Session(SessionSummary summary, std::vector<sources::WatchId> watches,
          std::shared_ptr<SessionBook> book, std::shared_ptr<PublishedSpool> spool);

  const SessionSummary& summary() const { return summary_; }
  SessionSummary Summary() const;
  const std::vector<sources::WatchId>& watches() const { return watches_; }
  sources::SampleSink& sink();
  const std::shared_ptr<SessionBook>& book() const { return book_; }
  const std::shared_ptr<PublishedSpool>& spool() const { return spool_; }

  // Once after every round of samples: writes down and streams what is due. Returns why the
  // session has to end, or nothing.
  std::string AfterSamples(Nanos time, uint64_t missed_ticks, uint64_t most_bytes);
  // The last samples have been taken.
  Result<bool> End(Nanos time, const std::string& why, uint64_t missed_ticks);

  // What has come up to now goes to the file.
  Result<bool> WriteDown(Nanos time);

  Result<uint64_t> OpenWindow(const std::string& name, Nanos time);
  // Nothing: there is no such window open.
  Result<std::optional<WindowEnd>> CloseWindow(uint64_t window, Nanos time);

  std::shared_ptr<BatchQueue> AddStream(const StreamOptions& options, Nanos time);
  size_t streams() const { return streams_.size(); }
  // Whether a stream that was to take the session with it is gone.
  bool WantsToEnd();

  uint64_t bytes() const { return spool_ ? spool_->bytes() : book_->bytes(); }

  uint64_t connection = 0;  // ends with it; 0: is kept
  uint64_t read = 0;        // published samples: the number of the Read that took them; 0: none did
  Clock::time_point asked = Clock::now();

 private:
  struct Window {
    uint64_t id;
    std::string name;
    Nanos start;
  };
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
  std::shared_ptr<SessionBook> book_;
  std::shared_ptr<PublishedSpool> spool_;
  std::vector<Window> windows_;
  uint64_t next_window_ = 1;
  std::vector<Stream> streams_;
  Nanos next_write_;
};

}  // namespace beryl::server
