// The published service on our sessions. Its clients do not say which process they stop and read,
// because its server watched only one.
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

Status Sessions::StartPublished(const Caller& caller, int32_t pid, Nanos period) {
  const Hold hold(*this);
  std::vector<SessionId> before;
  std::shared_ptr<PublishedSamples> unread;
  for (const auto& [id, session] : table_) {
    if (!IsPublishedOf(*session, caller, pid)) continue;
    if (session->summary().running) return {};  // as published: ignored
    before.push_back(id);
    if (session->read == 0) unread = session->samples();
  }
  SessionRequest request;
  request.pids = {pid};
  request.period = period.value == 0 ? options_.period : period;
  request.keep = true;  // a client may be one program for each call
  TRY(StartSession(caller, request, true, std::move(unread)));
  // Drops samples that were read, and continues unread ones in the new session.
  for (const SessionId id : before) table_.erase(id);
  if (const auto of = forgotten_.find(caller.uid); of != forgotten_.end()) of->second.erase(pid);
  return {};
}

void Sessions::StopPublished(const Caller& caller, std::optional<int32_t> pid) {
  const Hold hold(*this);
  DrainNow();
  for (const auto& [id, session] : table_) {
    if (IsPublishedOf(*session, caller, pid) && session->summary().running) {
      EndSession(*session, "");
    }
  }
}

Result<std::optional<Sessions::Unread>> Sessions::ReadPublished(const Caller& caller,
                                                                std::optional<int32_t> pid) {
  const std::lock_guard lock(mutex_);
  std::vector<Session*> unread;
  uint64_t last_read = 0;
  for (const auto& [id, session] : table_) {
    if (!IsPublishedOf(*session, caller, pid)) continue;
    if (session->summary().running) return std::optional<Unread>();
    if (session->read == 0) unread.push_back(session.get());
    last_read = std::max(last_read, session->read);
  }
  if (!unread.empty()) {
    last_read = ++reads_;
    for (Session* session : unread) session->read = last_read;
  }
  Unread samples;
  for (const auto& [id, session] : table_) {
    if (last_read == 0 || session->read != last_read) continue;
    if (!IsPublishedOf(*session, caller, pid)) continue;
    session->asked = Clock::now();
    samples.push_back(session->samples());
  }
  if (!samples.empty()) return std::optional<Unread>(std::move(samples));
  const auto of = forgotten_.find(caller.uid);
  const bool forgotten =
      of != forgotten_.end() && !of->second.empty() && (!pid || of->second.contains(*pid));
  if (forgotten) {
    return Error{ErrorCode::kNotFound,
                 "the measurement was forgotten: nobody asked for it, or there was too much of "
                 "it (docs/monitor.md)"};
  }
  return std::optional<Unread>(std::move(samples));
}

}  // namespace beryl::server
