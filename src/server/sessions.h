// All sessions of the monitor, on one sampler.
//
// Operation. While anybody measures, one thread takes what the sampler has read, some twenty times
// a second, and hands it to every session; the sampler itself never waits. With the last session
// the sampler stops, or goes on slowly if somebody wants the power of the machine.
//
// A session that is over is kept to be read until nobody has asked for it for a while. One that
// runs ends by itself when the connection that started it goes away, when its processes have ended
// and nobody asks for it, and at the limits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/answer.h"
#include "server/caller.h"
#include "server/meters.h"
#include "server/session.h"
#include "types/live_power.h"

namespace beryl::server {

struct SessionLimits {
  size_t sessions = 256;         // that run, of all users
  size_t sessions_of_user = 64;  // that run
  size_t kept = 256;             // that are over; the one longest not asked for goes
  size_t kept_of_user = 64;
  size_t pids = 64;           // of a session
  size_t windows = 1024;      // open, of a session
  size_t streams = 8;         // of a session
  size_t stream_queue = 256;  // batches
  size_t name_bytes = 256;
  uint64_t bytes = uint64_t{2} << 30;      // of a session's file
  uint64_t all_bytes = uint64_t{8} << 30;  // of all files together
  Nanos length{int64_t{24} * 3600 * 1'000'000'000};
  Nanos forget_after{int64_t{600} * 1'000'000'000};  // nobody asked, and it is over
  Nanos shortest_period{1'000'000};
  Nanos longest_period{int64_t{600} * 1'000'000'000};
};

struct SessionsOptions {
  SessionLimits limits;
  Nanos period{4'000'000};
  // Power of the machine without a session, for exporters; 0: nothing is read then.
  Nanos idle_period;
  Nanos drain_every{50'000'000};
  std::string folder;  // for the files of sessions
  // RAPL's parts of packages too, for published clients (PublishedSpool).
  bool published_parts = false;
  // Whether sessions, with their names, are told to exporters, which everybody may read.
  bool tell_sessions = false;
  // Told when a session ends that nobody stopped. Called without a lock.
  std::function<void(const std::string&)> log;
};

struct SessionRequest {
  std::vector<int32_t> pids;
  Nanos period;  // 0: the monitor's
  std::string name;
  bool keep = false;
};

// Any thread. A session of another user does not exist for a caller, unless he is root.
class Sessions {
 public:
  Sessions(Meters& meters, Guard guard, SessionsOptions options);
  ~Sessions();  // ends all sessions

  // ---- Our own service ----
  Answer<SessionSummary> Start(const Caller& caller, const SessionRequest& request);
  Answer<SessionSummary> Stop(const Caller& caller, SessionId id, bool forget);
  // The book of a session, to read its file; what was measured up to now stands in it.
  Answer<std::shared_ptr<SessionBook>> Open(const Caller& caller, SessionId id);
  Answer<std::shared_ptr<BatchQueue>> Stream(const Caller& caller, SessionId id,
                                             const StreamOptions& options);
  struct OpenedWindow {
    uint64_t window = 0;
    Nanos start;
  };
  Answer<OpenedWindow> OpenWindow(const Caller& caller, SessionId id, const std::string& name);
  Answer<WindowEnd> CloseWindow(const Caller& caller, SessionId id, uint64_t window);
  std::vector<SessionSummary> List(const Caller& caller) const;

  // ---- The published service: a session for each process and user ----
  Answer<bool> StartPublished(const Caller& caller, int32_t pid, Nanos period);
  // Without a process, as published clients do it: all of the user's.
  Answer<bool> StopPublished(const Caller& caller, std::optional<int32_t> pid);
  // All that was measured since the last Read, of one process or of all; again until more is
  // measured. Nothing: it still runs. Empty: nothing was ever measured.
  using Spools = std::vector<std::shared_ptr<PublishedSpool>>;
  Answer<std::optional<Spools>> ReadPublished(const Caller& caller, std::optional<int32_t> pid);

  // A session is started only on a connection that is open.
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
  // These want the lock.
  Result<bool> Wake(bool published);
  void SetPace();
  void Drain();
  // The same with a reading that is taken now.
  void DrainNow();
  bool IsAnyRunning() const;
  bool IsActivityOld() const;
  void EndSession(Session& session, const std::string& why);
  void EndAbandoned();
  void Forget();
  bool ForgetOne(std::optional<uint32_t> uid);
  void ForgetEntry(Table::iterator entry);
  void KeepToDiskLimit();
  uint64_t AllBytes() const;
  // `resumed`: published samples that nobody has read yet, to go on with.
  Answer<SessionSummary> StartSession(const Caller& caller, const SessionRequest& request,
                                      bool published, std::shared_ptr<PublishedSpool> resumed);
  Answer<bool> CheckRequest(const Caller& caller, const SessionRequest& request) const;
  Answer<Session*> Find(const Caller& caller, SessionId id);
  Answer<Session*> FindRunning(const Caller& caller, SessionId id);
  bool HasLivingProcess(const Session& session) const;
  void Say(const Session& session, const std::string& what);
  void Say(std::string what);

  Meters& meters_;
  const Guard guard_;
  const SessionsOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> sayings_;  // said once the lock is free
  Table table_;
  std::set<uint64_t> connections_;  // that are open
  // Whose published samples were forgotten, and of which processes.
  std::map<uint32_t, std::set<int32_t>> forgotten_;
  uint64_t reads_ = 0;  // of published samples
  Nanos last_activity_;
  Nanos longest_activity_;  // that the sampler was started with
  SessionId next_id_ = 1;
  uint64_t refused_ = 0;
  bool reading_ = false;
  std::unique_ptr<SessionBook> gauge_;
  Nanos gauge_start_;
  // The recorder's own tasks: a session that comes later has to be told of them too.
  struct OwnTask {
    int32_t pid;
    int32_t tid;
    std::string name;
  };
  std::map<uint32_t, OwnTask> own_tasks_;  // by their number
  bool stopping_ = false;
  std::thread thread_;
};

// The lock, and once it is free again, what there was to say: whoever reads that may be slow.
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
