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
  const std::lock_guard lock(mutex_);
  for (auto entry = table_.begin(); entry != table_.end();) {
    if (!IsPublishedOf(*entry->second, caller, pid)) {
      ++entry;
      continue;
    }
    if (entry->second->summary().running) return true;  // as published: ignored
    entry = table_.erase(entry);
  }
  SessionRequest request;
  request.pids = {pid};
  request.period = period.value == 0 ? options_.period : period;
  request.keep = true;  // a client may be one program for each call
  if (auto started = StartSession(caller, request, true); !started) return started.refused();
  return true;
}

Answer<bool> Sessions::StopPublished(const Caller& caller, std::optional<int32_t> pid) {
  const std::lock_guard lock(mutex_);
  Drain();
  for (const auto& [id, session] : table_) {
    if (IsPublishedOf(*session, caller, pid) && session->summary().running) {
      EndSession(*session, "");
    }
  }
  return true;
}

Answer<std::optional<std::shared_ptr<PublishedSpool>>> Sessions::ReadPublished(
    const Caller& caller, std::optional<int32_t> pid) {
  using Spool = std::optional<std::shared_ptr<PublishedSpool>>;
  const std::lock_guard lock(mutex_);
  Session* last = nullptr;
  bool running = false;
  for (const auto& [id, session] : table_) {
    if (!IsPublishedOf(*session, caller, pid)) continue;
    running = running || session->summary().running;
    if (session->summary().running) continue;
    if (last == nullptr || session->summary().end >= last->summary().end) last = session.get();
  }
  if (last == nullptr) return running ? Spool() : Spool(nullptr);
  last->asked = Clock::now();
  return Spool(last->spool());
}

}  // namespace beryl::server
