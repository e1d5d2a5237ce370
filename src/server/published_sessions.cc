// The published service on our sessions. Its clients never say which process they mean when they
// stop and read, because its server watched only one.
#include <algorithm>

#include <fmt/format.h>

#include "server/sessions.h"

namespace beryl::server {
namespace {

bool IsPublishedOf(const Session& session, const Caller& caller, std::optional<int32_t> pid) {
  const SessionSummary& summary = session.summary();
  return summary.published && summary.uid == caller.uid && (!pid || summary.pids.front() == *pid);
}

}  // namespace

Answer<bool> Sessions::StartPublished(const Caller& caller, int32_t pid, Nanos period) {
  const Hold hold(*this);
  std::vector<SessionId> before;
  std::shared_ptr<PublishedSpool> unread;
  for (const auto& [id, session] : table_) {
    if (!IsPublishedOf(*session, caller, pid)) continue;
    if (session->summary().running) return true;  // as published: ignored
    before.push_back(id);
    if (session->read == 0) unread = session->spool();
  }
  SessionRequest request;
  request.pids = {pid};
  request.period = period.value == 0 ? options_.period : period;
  request.keep = true;  // a client may be one program for each call
  if (auto started = StartSession(caller, request, true, std::move(unread)); !started) {
    return started.refused();
  }
  // What was read goes, and what was not goes on in the new one.
  for (const SessionId id : before) table_.erase(id);
  if (const auto of = forgotten_.find(caller.uid); of != forgotten_.end()) of->second.erase(pid);
  return true;
}

Answer<bool> Sessions::StopPublished(const Caller& caller, std::optional<int32_t> pid) {
  const Hold hold(*this);
  DrainNow();
  for (const auto& [id, session] : table_) {
    if (IsPublishedOf(*session, caller, pid) && session->summary().running) {
      EndSession(*session, "");
    }
  }
  return true;
}

Answer<std::optional<Sessions::Spools>> Sessions::ReadPublished(const Caller& caller,
                                                                std::optional<int32_t> pid) {
  const std::lock_guard lock(mutex_);
  std::vector<Session*> unread;
  uint64_t last_read = 0;
  for (const auto& [id, session] : table_) {
    if (!IsPublishedOf(*session, caller, pid)) continue;
    if (session->summary().running) return std::optional<Spools>();
    if (session->read == 0) unread.push_back(session.get());
    last_read = std::max(last_read, session->read);
  }
  if (!unread.empty()) {
    last_read = ++reads_;
    for (Session* session : unread) session->read = last_read;
  }
  Spools spools;
  for (const auto& [id, session] : table_) {
    if (last_read == 0 || session->read != last_read) continue;
    if (!IsPublishedOf(*session, caller, pid)) continue;
    session->asked = Clock::now();
    spools.push_back(session->spool());
  }
  if (!spools.empty()) return std::optional<Spools>(std::move(spools));
  const auto of = forgotten_.find(caller.uid);
  const bool forgotten =
      of != forgotten_.end() && !of->second.empty() && (!pid || of->second.contains(*pid));
  if (forgotten) {
    return Refused{Refusal::kNotFound,
                   "what was measured has been forgotten: it was not asked for, or there was too "
                   "much of it (--forget-after, docs/monitor.md)"};
  }
  return std::optional<Spools>(std::move(spools));
}

}  // namespace beryl::server
