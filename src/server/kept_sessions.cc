// What is kept of sessions that are over, and for how long.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "server/sessions.h"

namespace beryl::server {
namespace {

// Users, and processes of each, of whom it is known that their published samples were forgotten.
constexpr size_t kMostForgotten = 1024;

}  // namespace

// Sessions that are over: those nobody asked for, and the oldest of too many. Published samples
// that nobody has read yet wait longer: their clients are told nothing of a limit in time.
void Sessions::Forget() {
  const auto now = Clock::now();
  const auto forget_after = std::chrono::nanoseconds(options_.limits.forget_after.value);
  size_t kept = 0;
  std::map<uint32_t, size_t> of_user;
  for (auto entry = table_.begin(); entry != table_.end();) {
    const auto next = std::next(entry);
    const Session& session = *entry->second;
    const SessionSummary& summary = session.summary();
    const bool unread = summary.published && session.read == 0;
    if (!summary.running && !unread && now - session.asked >= forget_after) {
      ForgetEntry(entry);
    } else if (!summary.running) {
      ++kept;
      ++of_user[summary.uid];
    }
    entry = next;
  }
  for (auto& [uid, count] : of_user) {
    for (; count > options_.limits.kept_of_user && ForgetOne(uid); --count) --kept;
  }
  for (; kept > options_.limits.kept && ForgetOne(std::nullopt); --kept) {
  }
  KeepToDiskLimit();
}

uint64_t Sessions::AllBytes() const {
  uint64_t bytes = 0;
  for (const auto& [id, session] : table_) bytes += session->bytes();
  return bytes;
}

// While nobody measures nothing grows, and what is there may stay.
void Sessions::KeepToDiskLimit() {
  while (IsAnyRunning() && AllBytes() > options_.limits.all_bytes) {
    if (ForgetOne(std::nullopt)) continue;
    const auto biggest = std::max_element(
        table_.begin(), table_.end(),
        [](const auto& a, const auto& b) { return a.second->bytes() < b.second->bytes(); });
    Drain();
    EndSession(*biggest->second, fmt::format("all sessions together reached the limit of {}",
                                             FormatBytes(options_.limits.all_bytes)));
    return;
  }
}

void Sessions::ForgetEntry(Table::iterator entry) {
  const SessionSummary& summary = entry->second->summary();
  if (summary.published) {
    std::set<int32_t>& pids = forgotten_[summary.uid];
    pids.insert(summary.pids.front());
    if (pids.size() > kMostForgotten) pids.erase(pids.begin());
    if (forgotten_.size() > kMostForgotten) forgotten_.erase(forgotten_.begin());
  }
  table_.erase(entry);
}

// The one that is over and was not asked for the longest, of a user or of all; one with samples
// that nobody has read only if there is no other. False: there is none at all.
bool Sessions::ForgetOne(std::optional<uint32_t> uid) {
  const auto rank = [](const Session& session) {
    return std::make_pair(session.summary().published && session.read == 0, session.asked);
  };
  auto oldest = table_.end();
  for (auto entry = table_.begin(); entry != table_.end(); ++entry) {
    const SessionSummary& summary = entry->second->summary();
    if (summary.running || (uid && summary.uid != *uid)) continue;
    if (oldest == table_.end() || rank(*entry->second) < rank(*oldest->second)) oldest = entry;
  }
  if (oldest == table_.end()) return false;
  if (rank(*oldest->second).first) Say(*oldest->second, "forgotten before anybody read it");
  ForgetEntry(oldest);
  return true;
}

}  // namespace beryl::server
