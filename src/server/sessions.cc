#include "server/sessions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/this_machine.h"

namespace beryl::server {
namespace {

Error TooMuch(std::string message) { return {ErrorCode::kTooMuch, std::move(message)}; }

}  // namespace

Status Sessions::CheckRequest(const Caller& caller, const SessionRequest& request) const {
  const SessionLimits& limits = options_.limits;
  const Usage theirs = UsageOf(caller.uid);
  const Usage all = caller.uid == 0 ? theirs : UsageOf(std::nullopt);
  if (all.running >= limits.sessions) {
    return TooMuch(fmt::format(
        "{} sessions are already running; stop one, or raise the monitor's limit of sessions",
        all.running));
  }
  if (theirs.running >= limits.sessions_of_user) {
    return TooMuch(
        fmt::format("{} sessions of user {} are already running; stop one, or raise the monitor's "
                    "limit of sessions of one user",
                    theirs.running, caller.uid));
  }
  if (theirs.bytes >= limits.bytes_of_user) {
    return TooMuch(
        fmt::format("the sessions of user {} have reached the limit of {}; stop and "
                    "forget some",
                    caller.uid, FormatBytes(limits.bytes_of_user)));
  }
  const size_t watched = TasksOf(caller.uid);
  if (!request.pids.empty() && watched >= limits.tasks_of_user) {
    return TooMuch(
        fmt::format("{} threads and processes of user {} are watched already, the most "
                    "for one user; stop a session",
                    watched, caller.uid));
  }
  if (all.bytes >= limits.all_bytes) {
    return TooMuch(
        fmt::format("all sessions together have reached the limit of {}; stop and forget some",
                    FormatBytes(limits.all_bytes)));
  }
  if (request.pids.size() > limits.pids) {
    return TooMuch(fmt::format(
        "a session watches at most {} processes, with their children; {} were requested",
        limits.pids, request.pids.size()));
  }
  if (request.name.size() > limits.name_bytes) {
    return InvalidError(fmt::format("a name has at most {} bytes", limits.name_bytes));
  }
  if (request.period < limits.shortest_period || request.period > limits.longest_period) {
    return InvalidError(fmt::format("a period is from {} to {}; {} was requested",
                                    FormatSeconds(limits.shortest_period.seconds()),
                                    FormatSeconds(limits.longest_period.seconds()),
                                    FormatSeconds(request.period.seconds())));
  }
  const double readings = theirs.readings + 1 / request.period.seconds();
  if (readings > static_cast<double>(limits.readings_of_user)) {
    return TooMuch(
        fmt::format("the sessions of user {} would take {:.0f} readings a second together; the "
                    "most is {}; stop "
                    "one, or ask for longer periods",
                    caller.uid, readings, limits.readings_of_user));
  }
  for (const int32_t pid : request.pids) {
    TRY(guard_.MayWatch(caller, pid));
  }
  return {};
}

Sessions::Usage Sessions::UsageOf(std::optional<uint32_t> uid) const {
  Usage usage;
  for (const auto& [id, session] : table_) {
    const SessionSummary& summary = session->summary();
    if (uid && summary.uid != *uid) continue;
    usage.bytes += session->bytes();
    if (!summary.running) continue;
    ++usage.running;
    usage.readings += 1 / summary.period.seconds();
    usage.streams += session->streams();
  }
  return usage;
}

// What the monitor's user can read without the monitor is no secret to that user.
bool Sessions::IsCoarseFor(const Caller& caller, const SessionRequest& request) const {
  if (!coarse_.is_needed() || caller.uid == 0) return false;
  if (!guard_.serves_all && caller.uid == guard_.monitor_uid) return false;
  return options_.coarse_for == CoarseFor::kAllSessions ||
         (options_.coarse_for == CoarseFor::kMachineSessions && request.pids.empty());
}

Result<SessionSummary> Sessions::StartSession(const Caller& caller, const SessionRequest& asked,
                                              bool published,
                                              std::shared_ptr<PublishedSamples> resumed) {
  SessionRequest request = asked;
  const bool is_coarse = IsCoarseFor(caller, request);
  // Nobody would end it.
  if (!request.keep && caller.connection != 0 && !connections_.contains(caller.connection)) {
    ++refused_;
    return Error{ErrorCode::kNotNow, "the connection is closed"};
  }
  while (UsageOf(caller.uid).bytes >= options_.limits.bytes_of_user && ForgetOne(caller.uid)) {
  }
  while (UsageOf(std::nullopt).bytes >= options_.limits.all_bytes &&
         ForgetOne(*UserOfMostBytes())) {
  }
  if (auto ok = CheckRequest(caller, request); !ok) {
    ++refused_;
    return ok.error();
  }
  if (is_coarse) request.period = std::max(request.period, options_.coarse_period);
  TRY(Wake(published));
  Drain();  // earlier readings do not belong to this session
  std::vector<sources::WatchId> watches;
  const auto give_up = [&](Error refused) {
    for (const sources::WatchId watch : watches) meters_.Unwatch(watch);
    ++refused_;
    return refused;
  };
  for (const int32_t pid : request.pids) {
    const auto watch = meters_.Watch(pid, {caller.uid, caller.uid != 0});
    if (!watch) return give_up({ErrorCode::kNotFound, watch.error().message});
    watches.push_back(*watch);
    // The number may have been reused by another process.
    if (auto allowed = guard_.MayWatch(caller, pid); !allowed) return give_up(allowed.error());
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
  auto made = MakeSession(summary, watches, std::move(resumed), is_coarse);
  if (!made) return give_up(made.error());
  std::unique_ptr<Session> session = std::move(*made);
  session->is_coarse = is_coarse;
  for (const auto& [number, task] : own_tasks_) {
    session->sink().OnTaskBirth({number, 0, task.pid, task.tid, task.name});
  }
  if (!request.keep) session->connection = caller.connection;
  table_.emplace(next_id_++, std::move(session));
  SetPace();
  meters_.ReadNow();  // the start of the session
  return summary;
}

Result<std::unique_ptr<Session>> Sessions::MakeSession(const SessionSummary& summary,
                                                       const std::vector<sources::WatchId>& watches,
                                                       std::shared_ptr<PublishedSamples> resumed,
                                                       bool is_coarse) {
  const std::vector<PowerChannel>& channels = is_coarse ? coarse_.channels() : meters_.channels();
  const auto has_room = [&](const UnnamedFile& file) {
    return summary.uid == 0 || file.fd() < options_.limits.descriptors;
  };
  const Error no_room = TooMuch(
      "the monitor's file descriptors are in use, but for those kept for root; stop some sessions, "
      "or allow it more (ulimit -n, LimitNOFILE=)");
  if (resumed) {
    resumed->Resume(watches.front(), summary.period);
    return std::make_unique<Session>(summary, watches, std::move(resumed));
  }
  if (summary.published) {
    auto samples = TRY(PublishedSamples::Create(
        channels, {options_.folder, summary.pids.front(), watches.front(), summary.period,
                   options_.limits.bytes, options_.published_parts}));
    if (!has_room(samples.file())) return no_room;
    return std::make_unique<Session>(summary, watches,
                                     std::make_shared<PublishedSamples>(std::move(samples)));
  }
  auto file = std::make_shared<UnnamedFile>(TRY(UnnamedFile::Create(options_.folder)));
  if (!has_room(*file)) return no_room;
  RecordingPiece head = meters_.blank();
  head.power.channels = channels;
  head.recording.pids = summary.pids;
  head.recording.period = summary.period;
  if (!summary.name.empty()) {
    head.recording.notes.push_back({NoteKind::kSessionNamed, summary.name});
  }
  if (is_coarse) {
    head.recording.notes.push_back(
        {NoteKind::kCoarseReadings, "", {coarse_.period().seconds(), coarse_.step().value}});
  }
  // The sampler may run faster for another session.
  auto recording = std::make_unique<flows::LiveRecording>(
      std::move(head), sources::Recorder::Options{watches, summary.period});
  recording->FollowEnergy();
  TRY(recording->Begin(file->file(), summary.start, meters_.cost()));
  return std::make_unique<Session>(summary, watches, std::move(recording), std::move(file));
}

Result<SessionSummary> Sessions::Start(const Caller& caller, const SessionRequest& request) {
  SessionRequest wanted = request;
  if (wanted.period.value == 0) wanted.period = options_.period;
  const Hold hold(*this);
  return StartSession(caller, wanted, false, nullptr);
}

Result<Session*> Sessions::Find(const Caller& caller, SessionId id) {
  const auto found = table_.find(id);
  if (found == table_.end() || found->second->summary().published ||
      !guard_.MaySee(caller, found->second->summary().uid)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("you have no session {}; it may have been forgotten", id)};
  }
  found->second->asked = Clock::now();
  return found->second.get();
}

Result<Session*> Sessions::FindRunning(const Caller& caller, SessionId id) {
  Session* session = TRY(Find(caller, id));
  if (!session->summary().running) {
    return Error{ErrorCode::kNotNow, fmt::format("session {} has ended", id)};
  }
  return session;
}

Result<SessionSummary> Sessions::Stop(const Caller& caller, SessionId id, bool forget) {
  const Hold hold(*this);
  Session* session = TRY(Find(caller, id));
  if (session->summary().running) {
    DrainNow();
    EndSession(*session, "");
  }
  SessionSummary summary = session->Summary();
  if (forget) table_.erase(id);
  return summary;
}

Result<std::shared_ptr<const UnnamedFile>> Sessions::Open(const Caller& caller, SessionId id) {
  const std::lock_guard lock(mutex_);
  Session* session = TRY(Find(caller, id));
  if (session->summary().running) {
    Drain();
    TRY(session->WriteDown(meters_.Now()));
  }
  return session->file();
}

Result<std::shared_ptr<BatchQueue>> Sessions::Stream(const Caller& caller, SessionId id,
                                                     const StreamOptions& options) {
  const std::lock_guard lock(mutex_);
  Session* session = TRY(FindRunning(caller, id));
  if (options.queue > options_.limits.stream_queue) {
    return TooMuch(fmt::format("a queue has at most {} batches", options_.limits.stream_queue));
  }
  if (session->streams() >= options_.limits.streams) {
    return TooMuch(fmt::format("session {} has {} streams already", id, options_.limits.streams));
  }
  if (UsageOf(session->summary().uid).streams >= options_.limits.streams_of_user) {
    return TooMuch(fmt::format("the sessions of user {} have {} streams already",
                               session->summary().uid, options_.limits.streams_of_user));
  }
  return session->AddStream(options, meters_.Now());
}

Result<Sessions::OpenedWindow> Sessions::OpenWindow(const Caller& caller, SessionId id,
                                                    const std::string& name) {
  if (name.size() > options_.limits.name_bytes) {
    return InvalidError(fmt::format("a name has at most {} bytes", options_.limits.name_bytes));
  }
  const std::lock_guard lock(mutex_);
  Session* session = TRY(FindRunning(caller, id));
  if (session->Summary().open_windows >= options_.limits.windows) {
    return TooMuch(
        fmt::format("session {} has {} open windows already", id, options_.limits.windows));
  }
  DrainNow();
  const Nanos now = meters_.Now();
  return OpenedWindow{TRY(session->OpenWindow(Printable(name), now)), now};
}

Result<LiveWindow> Sessions::CloseWindow(const Caller& caller, SessionId id, uint64_t window) {
  const std::lock_guard lock(mutex_);
  Session* session = TRY(FindRunning(caller, id));
  const Nanos now = meters_.Now();  // so that there is a reading after it, too
  DrainNow();
  return session->CloseWindow(window, now);
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
  live.host = HostName();
  live.start = machine_power_start_;
  live.time = meters_.Now();
  if (machine_power_) live.channels = machine_power_->channels();
  live.cost = meters_.cost();
  live.sessions_started = next_id_ - 1;
  live.sessions_refused = refused_;
  for (const auto& [id, session] : table_) {
    SessionSummary summary = session->Summary();
    if (!summary.running) continue;
    // A session without devices is only counted.
    if (!options_.tell_sessions) summary = {};
    live.sessions.push_back(
        {summary.id, summary.name, summary.uid, true, std::move(summary.devices)});
  }
  return live;
}

}  // namespace beryl::server
