#include "server/sessions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::server {
namespace {

// The sampler goes on for a while after the last session: whoever measures step by step starts the
// next one soon.
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::seconds kAbandonedAfter{60};
constexpr std::chrono::milliseconds kLookAfter{500};
// Published clients take differences over 101 ms: there have to be samples of tasks in each.
constexpr Nanos kPublishedActivity{50'000'000};
constexpr Nanos kUsualActivity{500'000'000};

Refused NotFound(SessionId id) {
  return {Refusal::kNotFound,
          fmt::format("there is no session {} of yours; it may have been forgotten", id)};
}

Refused Broken(const Error& error) { return {Refusal::kBroken, error.message}; }

}  // namespace

// Hands every sample to every session that runs.
class Sessions::FanOut final : public sources::SampleSink {
 public:
  explicit FanOut(Sessions& sessions) : sessions_(sessions) {
    for (const auto& [id, session] : sessions.table_) {
      if (session->summary().running) sinks_.push_back(&session->sink());
    }
    if (sessions.gauge_) sinks_.push_back(sessions.gauge_.get());
  }
  void OnPower(Nanos time, std::span<const sources::MeterReading> readings) override {
    for (auto* sink : sinks_) sink->OnPower(time, readings);
  }
  void OnTaskBirth(const sources::TaskBirth& birth) override {
    if (birth.watch == 0) {
      sessions_.own_tasks_[birth.task] = {birth.pid, birth.tid, std::string(birth.name)};
    }
    for (auto* sink : sinks_) sink->OnTaskBirth(birth);
  }
  void OnActivity(Nanos time, std::span<const sources::CpuJiffies> cpus,
                  std::span<const sources::TaskSample> tasks) override {
    sessions_.last_activity_ = time;
    for (auto* sink : sinks_) sink->OnActivity(time, cpus, tasks);
  }
  void OnFeatures(Nanos time, std::span<const double> values) override {
    for (auto* sink : sinks_) sink->OnFeatures(time, values);
  }
  void OnMissed(Nanos time, uint64_t ticks) override {
    for (auto* sink : sinks_) sink->OnMissed(time, ticks);
  }

 private:
  Sessions& sessions_;
  std::vector<sources::SampleSink*> sinks_;
};

Sessions::Sessions(Meters& meters, Guard guard, SessionsOptions options)
    : meters_(meters), guard_(std::move(guard)), options_(std::move(options)) {
  if (options_.idle_period.value > 0) {
    const Hold hold(*this);
    if (const auto woken = Wake(false); !woken) Say(woken.error().message);
  }
  thread_ = std::thread([this] { Run(); });
}

Sessions::~Sessions() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
  const Hold hold(*this);
  Drain();
  for (const auto& [id, session] : table_) {
    if (session->summary().running) EndSession(*session, "the monitor ended");
  }
  if (reading_) meters_.Stop();
}

void Sessions::Run() {
  Hold hold(*this);
  auto last_running = Clock::now();
  auto next_look = Clock::now();
  while (!stopping_) {
    // Without anything to read, this thread sleeps but for looking after what is kept.
    const auto nap = reading_ ? std::chrono::nanoseconds(options_.drain_every.value)
                              : std::chrono::nanoseconds(kLookAfter);
    hold.SayAll();
    changed_.wait_for(hold.lock(), nap, [&] { return stopping_; });
    if (stopping_) return;
    if (reading_) Round();
    const auto now = Clock::now();
    if (now >= next_look) {
      next_look = now + kLookAfter;
      EndAbandoned();
      Forget();
    }
    const bool running = IsAnyRunning();
    if (running) last_running = now;
    if (reading_ && !running && now - last_running >= kLinger) SetPace();
  }
}

bool Sessions::IsAnyRunning() const {
  return std::any_of(table_.begin(), table_.end(),
                     [](const auto& entry) { return entry.second->summary().running; });
}

// Whether published sessions have waited too long for a sample of tasks, which the sampler may find
// too dear.
bool Sessions::IsActivityOld() const {
  if (longest_activity_ <= kPublishedActivity) return false;
  const Nanos age = meters_.Now() - last_activity_;
  return std::any_of(table_.begin(), table_.end(), [&](const auto& entry) {
    const SessionSummary& summary = entry.second->summary();
    return summary.published && summary.running &&
           age.value > std::max(summary.period, kPublishedActivity).value / 5 * 3;
  });
}

void Sessions::Round() {
  Drain();
  if (IsActivityOld()) DrainNow();
  const Nanos now = meters_.Now();
  const uint64_t missed = meters_.cost().missed;
  for (const auto& [id, session] : table_) {
    if (!session->summary().running) continue;
    const std::string why = session->AfterSamples(now, missed, options_.limits.bytes);
    if (!why.empty()) EndSession(*session, why);
  }
  if (gauge_) {
    if (const auto written = gauge_->Write(); !written) Say(written.error().message);
  }
}

Result<bool> Sessions::Wake(bool published) {
  if (reading_) return true;
  own_tasks_.clear();
  if (options_.idle_period.value > 0 && !gauge_) {
    gauge_start_ = meters_.Now();
  }
  const bool only_gauge = table_.empty() && options_.idle_period.value > 0;
  longest_activity_ = published ? kPublishedActivity : kUsualActivity;
  auto started =
      meters_.Start(only_gauge ? options_.idle_period : options_.period, longest_activity_);
  if (!started) return started;
  reading_ = true;
  if (options_.idle_period.value > 0 && !gauge_) gauge_ = meters_.NewGauge();
  return true;
}

// As fast as the fastest session wants it; without one slowly, or not at all.
void Sessions::SetPace() {
  std::optional<Nanos> fastest;
  for (const auto& [id, session] : table_) {
    if (!session->summary().running) continue;
    const Nanos period = session->summary().period;
    fastest = fastest ? std::min(*fastest, period) : period;
  }
  if (fastest) {
    meters_.SetPeriod(*fastest);
  } else if (options_.idle_period.value > 0) {
    meters_.SetPeriod(options_.idle_period);
  } else {
    meters_.Stop();
    reading_ = false;
  }
}

void Sessions::Drain() {
  if (!reading_) return;
  FanOut fan(*this);
  meters_.Drain(fan);
}

void Sessions::DrainNow() {
  if (reading_) meters_.ReadNow();
  Drain();
}

// The lock is held, and all samples up to now have been handed out.
void Sessions::EndSession(Session& session, const std::string& why) {
  const auto ended = session.End(meters_.Now(), why, meters_.cost().missed);
  for (const sources::WatchId watch : session.watches()) meters_.Unwatch(watch);
  session.asked = Clock::now();
  if (!ended) Say(session, ended.error().message);
  if (!why.empty()) Say(session, "ended: " + why);
  if (reading_ && IsAnyRunning()) SetPace();  // the others may want it slower
}

void Sessions::Say(const Session& session, const std::string& what) {
  Say(fmt::format("session {} of user {}: {}", session.summary().id, session.summary().uid, what));
}

void Sessions::Say(std::string what) { sayings_.push_back(std::move(what)); }

bool Sessions::HasLivingProcess(const Session& session) const {
  const std::vector<int32_t>& pids = session.summary().pids;
  if (pids.empty()) return true;
  return std::any_of(pids.begin(), pids.end(),
                     [&](int32_t pid) { return IsAlive(guard_.procfs, pid); });
}

void Sessions::EndAbandoned() {
  const auto now = Clock::now();
  const Nanos time = meters_.Now();
  for (const auto& [id, session] : table_) {
    const SessionSummary& summary = session->summary();
    if (!summary.running) continue;
    std::string why;
    if (session->WantsToEnd()) {
      why = "its stream ended";
    } else if (time - summary.start > options_.limits.length) {
      why = fmt::format("it reached the limit of {} for a session",
                        FormatSeconds(options_.limits.length.seconds()));
    } else if ((summary.published || now - session->asked >= kAbandonedAfter) &&
               !HasLivingProcess(*session)) {
      why = summary.published ? "its process ended" : "its processes ended and nobody asked for it";
    }
    if (why.empty()) continue;
    Drain();
    EndSession(*session, why);
  }
}

Answer<bool> Sessions::CheckRequest(const Caller& caller, const SessionRequest& request) const {
  const SessionLimits& limits = options_.limits;
  size_t running = 0;
  size_t of_user = 0;
  for (const auto& [id, session] : table_) {
    running += session->summary().running;
    of_user += session->summary().running && session->summary().uid == caller.uid;
  }
  if (running >= limits.sessions) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("{} sessions run already; stop one, or start the monitor with a "
                               "higher --limit-sessions",
                               running)};
  }
  if (of_user >= limits.sessions_of_user) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("{} sessions of user {} run already; stop one, or start the monitor "
                               "with a higher --limit-user",
                               of_user, caller.uid)};
  }
  if (AllBytes() >= limits.all_bytes) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("all sessions together have reached the limit of {}; stop and "
                               "forget some",
                               FormatBytes(limits.all_bytes))};
  }
  if (request.pids.size() > limits.pids) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("a session watches at most {} processes, with their children; {} "
                               "were asked for",
                               limits.pids, request.pids.size())};
  }
  if (request.name.size() > limits.name_bytes) {
    return Refused{Refusal::kInvalid,
                   fmt::format("a name has at most {} bytes", limits.name_bytes)};
  }
  if (request.period < limits.shortest_period || request.period > limits.longest_period) {
    return Refused{Refusal::kInvalid, fmt::format("a period is from {} to {}; {} was asked for",
                                                  FormatSeconds(limits.shortest_period.seconds()),
                                                  FormatSeconds(limits.longest_period.seconds()),
                                                  FormatSeconds(request.period.seconds()))};
  }
  for (const int32_t pid : request.pids) {
    if (auto allowed = guard_.MayWatch(caller, pid); !allowed) return allowed;
  }
  return true;
}

Answer<SessionSummary> Sessions::StartSession(const Caller& caller, const SessionRequest& request,
                                              bool published,
                                              std::shared_ptr<PublishedSpool> resumed) {
  // Nobody would end it.
  if (!request.keep && caller.connection != 0 && !connections_.contains(caller.connection)) {
    ++refused_;
    return Refused{Refusal::kNotNow, "the connection is closed"};
  }
  while (AllBytes() >= options_.limits.all_bytes && ForgetOne(std::nullopt)) {
  }
  if (auto ok = CheckRequest(caller, request); !ok) {
    ++refused_;
    return ok.refused();
  }
  if (const auto woken = Wake(published); !woken) return Broken(woken.error());
  Drain();  // what was read before is not of this session
  std::vector<sources::WatchId> watches;
  const auto give_up = [&](Refused refused) {
    for (const sources::WatchId watch : watches) meters_.Unwatch(watch);
    ++refused_;
    return refused;
  };
  for (const int32_t pid : request.pids) {
    const auto watch = meters_.Watch(pid);
    if (!watch) return give_up({Refusal::kNotFound, watch.error().message});
    watches.push_back(*watch);
    // The number may have gone to another process in between.
    if (auto allowed = guard_.MayWatch(caller, pid); !allowed) return give_up(allowed.refused());
  }

  SessionSummary summary;
  summary.id = next_id_;
  summary.name = Printable(request.name);
  summary.pids = request.pids;
  summary.uid = caller.uid;
  summary.published = published;
  summary.running = true;
  summary.start = meters_.Now();
  summary.period = request.period;
  std::shared_ptr<SessionBook> book;
  std::shared_ptr<PublishedSpool> spool;
  if (resumed) {
    spool = std::move(resumed);
    spool->Resume(watches.front(), request.period);
  } else if (published) {
    auto made = PublishedSpool::Create(
        meters_.channels(), {options_.folder, request.pids.front(), watches.front(), request.period,
                             options_.limits.bytes, options_.published_parts});
    if (!made) return give_up(Broken(made.error()));
    spool = std::make_shared<PublishedSpool>(std::move(*made));
  } else {
    auto made =
        meters_.NewBook({summary.name, summary.pids, watches, summary.period, summary.start});
    if (!made) return give_up(Broken(made.error()));
    book = std::move(*made);
  }
  auto session = std::make_unique<Session>(summary, watches, std::move(book), std::move(spool));
  for (const auto& [number, task] : own_tasks_) {
    session->sink().OnTaskBirth({number, 0, task.pid, task.tid, task.name});
  }
  if (!request.keep) session->connection = caller.connection;
  table_.emplace(next_id_++, std::move(session));
  SetPace();
  meters_.ReadNow();  // where it begins
  return summary;
}

Answer<SessionSummary> Sessions::Start(const Caller& caller, const SessionRequest& request) {
  SessionRequest wanted = request;
  if (wanted.period.value == 0) wanted.period = options_.period;
  const Hold hold(*this);
  return StartSession(caller, wanted, false, nullptr);
}

Answer<Session*> Sessions::Find(const Caller& caller, SessionId id) {
  const auto found = table_.find(id);
  if (found == table_.end() || found->second->summary().published ||
      !guard_.MaySee(caller, found->second->summary().uid)) {
    return NotFound(id);
  }
  found->second->asked = Clock::now();
  return found->second.get();
}

Answer<Session*> Sessions::FindRunning(const Caller& caller, SessionId id) {
  auto session = Find(caller, id);
  if (session && !(*session)->summary().running) {
    return Refused{Refusal::kNotNow, fmt::format("session {} is over", id)};
  }
  return session;
}

Answer<SessionSummary> Sessions::Stop(const Caller& caller, SessionId id, bool forget) {
  const Hold hold(*this);
  auto session = Find(caller, id);
  if (!session) return session.refused();
  if ((*session)->summary().running) {
    DrainNow();
    EndSession(**session, "");
  }
  SessionSummary summary = (*session)->Summary();
  if (forget) table_.erase(id);
  return summary;
}

Answer<std::shared_ptr<SessionBook>> Sessions::Open(const Caller& caller, SessionId id) {
  const std::lock_guard lock(mutex_);
  auto session = Find(caller, id);
  if (!session) return session.refused();
  if ((*session)->summary().running) {
    Drain();
    if (const auto written = (*session)->WriteDown(meters_.Now()); !written)
      return Broken(written.error());
  }
  return (*session)->book();
}

Answer<std::shared_ptr<BatchQueue>> Sessions::Stream(const Caller& caller, SessionId id,
                                                     const StreamOptions& options) {
  const std::lock_guard lock(mutex_);
  auto session = FindRunning(caller, id);
  if (!session) return session.refused();
  if (options.queue > options_.limits.stream_queue) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("a queue has at most {} batches", options_.limits.stream_queue)};
  }
  if ((*session)->streams() >= options_.limits.streams) {
    return Refused{Refusal::kTooMuch,
                   fmt::format("session {} has {} streams already", id, options_.limits.streams)};
  }
  return (*session)->AddStream(options, meters_.Now());
}

Answer<Sessions::OpenedWindow> Sessions::OpenWindow(const Caller& caller, SessionId id,
                                                    const std::string& name) {
  if (name.size() > options_.limits.name_bytes) {
    return Refused{Refusal::kInvalid,
                   fmt::format("a name has at most {} bytes", options_.limits.name_bytes)};
  }
  const std::lock_guard lock(mutex_);
  auto session = FindRunning(caller, id);
  if (!session) return session.refused();
  if ((*session)->Summary().open_windows >= options_.limits.windows) {
    return Refused{Refusal::kTooMuch, fmt::format("session {} has {} open windows already", id,
                                                  options_.limits.windows)};
  }
  DrainNow();
  const Nanos now = meters_.Now();
  const auto window = (*session)->OpenWindow(Printable(name), now);
  if (!window) return Broken(window.error());
  return OpenedWindow{*window, now};
}

Answer<WindowEnd> Sessions::CloseWindow(const Caller& caller, SessionId id, uint64_t window) {
  const std::lock_guard lock(mutex_);
  auto session = FindRunning(caller, id);
  if (!session) return session.refused();
  const Nanos now = meters_.Now();  // so that there is a reading behind it, too
  DrainNow();
  auto closed = (*session)->CloseWindow(window, now);
  if (!closed) return Broken(closed.error());
  if (!closed->has_value()) {
    return Refused{Refusal::kNotFound, fmt::format("session {} has no open window {}", id, window)};
  }
  return std::move(**closed);
}

std::vector<SessionSummary> Sessions::List(const Caller& caller) const {
  const std::lock_guard lock(mutex_);
  std::vector<SessionSummary> list;
  for (const auto& [id, session] : table_) {
    if (guard_.MaySee(caller, session->summary().uid)) list.push_back(session->Summary());
  }
  return list;
}

void Sessions::ConnectionOpened(uint64_t connection) {
  const std::lock_guard lock(mutex_);
  connections_.insert(connection);
}

void Sessions::ConnectionClosed(uint64_t connection) {
  if (connection == 0) return;
  const Hold hold(*this);
  connections_.erase(connection);
  bool drained = false;
  for (const auto& [id, session] : table_) {
    if (session->connection != connection || !session->summary().running) continue;
    if (!drained) Drain();
    drained = true;
    EndSession(*session, "the client that started it went away");
  }
}

LivePower Sessions::Live() const {
  const std::lock_guard lock(mutex_);
  LivePower live;
  live.provenance = MakeProvenance(MetersOf(meters_.channels()));
  live.host = meters_.machine();
  live.start = gauge_start_;
  live.time = meters_.Now();
  if (gauge_) live.channels = gauge_->channels();
  live.cost = meters_.cost();
  live.sessions_started = next_id_ - 1;
  live.sessions_refused = refused_;
  for (const auto& [id, session] : table_) {
    SessionSummary summary = session->Summary();
    if (!summary.running) continue;
    // Without devices a session is counted and nothing more is said of it.
    if (!options_.tell_sessions) summary = {};
    live.sessions.push_back(
        {summary.id, summary.name, summary.uid, true, std::move(summary.devices)});
  }
  return live;
}

}  // namespace beryl::server
