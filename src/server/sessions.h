// All sessions of the monitor, on one sampler.
//
// Operation. While any session runs, one thread takes the sampler's readings about twenty times a
// second and passes them to every session; the sampler itself never waits. After the last session
// the sampler stops, or continues slowly if exporters want the power of the machine.
//
// A finished session is kept until nobody has requested it for a while. A running session ends by
// itself when the connection that started it closes, when its processes have ended and nobody
// requests it, and at the limits.
#pragma once

#include <climits>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "server/caller.h"
#include "server/coarse_readings.h"
#include "server/meters.h"
#include "server/session.h"
#include "types/live_power.h"

namespace beryl::server {

struct SessionLimits {
  // What others do never counts against root: the limits of all users hold for root alone, and for
  // all together.
  size_t sessions = 256;         // running, of all users
  size_t sessions_of_user = 64;  // running
  size_t kept = 256;             // finished; the one not requested for longest is dropped
  size_t kept_of_user = 64;
  size_t tasks_of_user = 4096;       // threads and processes watched, not of root
  size_t readings_of_user = 16'000;  // a second, of all running sessions: their periods
  size_t streams_of_user = 16;
  size_t pids = 64;           // per session
  size_t windows = 1024;      // open, per session
  size_t streams = 8;         // per session
  size_t stream_queue = 256;  // batches
  size_t name_bytes = 256;
  uint64_t bytes = uint64_t{2} << 30;  // of a session's file
  uint64_t bytes_of_user = uint64_t{4} << 30;
  uint64_t all_bytes = uint64_t{8} << 30;  // of all files together
  int descriptors = INT_MAX;  // numbers from here on are left to root, and to new connections
  Nanos length{int64_t{24} * 3600 * 1'000'000'000};
  Nanos forget_after{int64_t{600} * 1'000'000'000};  // since the last request, once finished
  Nanos shortest_period{1'000'000};
  Nanos longest_period{int64_t{600} * 1'000'000'000};
};

struct SessionsOptions {
  SessionLimits limits;
  Nanos period{4'000'000};
  // Period of the machine's power without a session, for exporters; 0: not read then.
  Nanos idle_period;
  Nanos drain_every{50'000'000};
  std::string folder;  // for the files of sessions
  CoarseFor coarse_for = CoarseFor::kMachineSessions;
  Nanos coarse_period{100'000'000};
  Joules coarse_step{0.1};
  // Also RAPL's parts of packages, for published clients (PublishedSamples).
  bool published_parts = false;
  // Whether exporters, which everybody may read, get the sessions and their names.
  bool tell_sessions = false;
  // Called when a session ends without being stopped. Called without a lock.
  std::function<void(const std::string&)> log;
};

struct SessionRequest {
  std::vector<int32_t> pids;
  Nanos period;  // 0: the monitor's default
  std::string name;
  bool keep = false;
};

// Thread-safe. Callers other than root cannot see sessions of other users.
class Sessions {
 public:
  Sessions(Meters& meters, Guard guard, SessionsOptions options);
  ~Sessions();  // ends all sessions

  // ---- Our own service ----
  Result<SessionSummary> Start(const Caller& caller, const SessionRequest& request);
  Result<SessionSummary> Stop(const Caller& caller, SessionId id, bool forget);
  // The file of a session, complete up to now.
  Result<std::shared_ptr<const UnnamedFile>> Open(const Caller& caller, SessionId id);
  Result<std::shared_ptr<BatchQueue>> Stream(const Caller& caller, SessionId id,
                                             const StreamOptions& options);
  struct OpenedWindow {
    uint64_t window = 0;
    Nanos start;
  };
  Result<OpenedWindow> OpenWindow(const Caller& caller, SessionId id, const std::string& name);
  Result<LiveWindow> CloseWindow(const Caller& caller, SessionId id, uint64_t window);
  std::vector<SessionSummary> List(const Caller& caller) const;

  // ---- The published service: a session for each process and user ----
  Status StartPublished(const Caller& caller, int32_t pid, Nanos period);
  // Without a process, as published clients do: all sessions of the user.
  void StopPublished(const Caller& caller, std::optional<int32_t> pid);
  // Everything measured since the last Read, for one process or for all; repeated until more is
  // measured. Nothing: still running. Empty: nothing was ever measured.
  using Unread = std::vector<std::shared_ptr<PublishedSamples>>;
  Result<std::optional<Unread>> ReadPublished(const Caller& caller, std::optional<int32_t> pid);

  // A session starts only on an open connection.
  void ConnectionOpened(uint64_t connection);
  void ConnectionClosed(uint64_t connection);

  LivePower Live() const;
  const std::string& report() const { return meters_.report(); }

 private:
  class FanOut;
  class Hold;
  using Table = std::map<SessionId, std::unique_ptr<Session>>;

  void Run();
  void Round();
  // These require the lock.
  Status Wake(bool published);
  void SetPace();
  void Drain();
  // The same with an immediate reading.
  void DrainNow();
  // What a user takes, or all users.
  struct Usage {
    size_t running = 0;
    uint64_t bytes = 0;
    double readings = 0;  // a second
    size_t streams = 0;
  };
  Usage UsageOf(std::optional<uint32_t> uid) const;
  std::optional<uint32_t> UserOfMostBytes() const;
  bool IsCoarseFor(const Caller& caller, const SessionRequest& request) const;
  bool AreExportsCoarse() const;
  bool IsAnyRunning() const;
  bool IsActivityOld() const;
  size_t TasksOf(uint32_t uid) const;  // those that have times of their own
  bool IsInSums(const SessionSummary& session) const;
  void EndSession(Session& session, const std::string& why);
  void EndAbandoned();
  void Forget();
  bool ForgetOne(uint32_t uid);
  void ForgetEntry(Table::iterator entry);
  void KeepToDiskLimits();
  void EndLargest(uint32_t uid, const std::string& why);
  // `resumed`: unread published samples to continue.
  Result<SessionSummary> StartSession(const Caller& caller, const SessionRequest& request,
                                      bool published, std::shared_ptr<PublishedSamples> resumed);
  Result<std::unique_ptr<Session>> MakeSession(const SessionSummary& summary,
                                               const std::vector<sources::WatchId>& watches,
                                               std::shared_ptr<PublishedSamples> resumed,
                                               bool is_coarse);
  Status CheckRequest(const Caller& caller, const SessionRequest& request) const;
  Result<Session*> Find(const Caller& caller, SessionId id);
  Result<Session*> FindRunning(const Caller& caller, SessionId id);
  bool HasRunningProcess(const Session& session) const;
  void Say(const Session& session, const std::string& what);
  void Say(std::string what);

  Meters& meters_;
  const Guard guard_;
  const SessionsOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> sayings_;  // to be logged once the lock is free
  Table table_;
  std::set<uint64_t> connections_;  // open connections
  // Whose published samples were dropped, and of which processes.
  std::map<uint32_t, std::set<int32_t>> forgotten_;
  uint64_t reads_ = 0;  // of published samples
  Nanos last_activity_;
  Nanos longest_activity_;  // of the sampler since its start
  SessionId next_id_ = 1;
  uint64_t refused_ = 0;
  bool reading_ = false;
  // Without a file, while the sampler runs: the power of the machine for exporters.
  std::unique_ptr<flows::LiveRecording> machine_power_;
  Nanos machine_power_start_;
  // The recorder's own tasks: later sessions need them too.
  struct OwnTask {
    int32_t pid;
    int32_t tid;
    std::string name;
  };
  std::map<uint32_t, OwnTask> own_tasks_;  // by their number
  CoarseReadings coarse_;
  bool stopping_ = false;
  std::thread thread_;
};

// Holds the lock; after releasing it, logs the pending messages, because a reader of the log may be
// slow.
class Sessions::Hold {
 public:
  explicit Hold(Sessions& sessions) : sessions_(sessions), lock_(sessions.mutex_) {}
  ~Hold() {
    SayAll();
    if (lock_.owns_lock()) lock_.unlock();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  std::unique_lock<std::mutex>& lock() { return lock_; }
  void SayAll() {
    if (sessions_.sayings_.empty()) return;
    const std::vector<std::string> sayings = std::exchange(sessions_.sayings_, {});
    lock_.unlock();
    if (sessions_.options_.log) {
      for (const std::string& what : sayings) sessions_.options_.log(what);
    }
    lock_.lock();
  }

 private:
  Sessions& sessions_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace beryl::server
