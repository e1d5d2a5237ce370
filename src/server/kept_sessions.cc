// What is kept of finished sessions, and for how long.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "server/sessions.h"

namespace beryl::server {
namespace {

// Users, and their processes, whose published samples were dropped.
constexpr size_t kMostForgotten = 1024;

}  // namespace

// Drops finished sessions that nobody requested, and the oldest of too many. Unread published
// samples wait longer: their clients do not know a time limit.
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
  for (; kept > options_.limits.kept; --kept) {
    const auto most =
        std::max_element(of_user.begin(), of_user.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (!ForgetOne(most->first)) break;
    --most->second;
  }
  KeepToDiskLimits();
}

// Root only if there is no other user.
std::optional<uint32_t> Sessions::UserOfMostBytes() const {
  std::map<uint32_t, uint64_t> bytes;
  for (const auto& [id, session] : table_) bytes[session->summary().uid] += session->bytes();
  if (bytes.size() > 1) bytes.erase(0);
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? std::nullopt : std::optional(most->first);
}

// Who takes the most loses first. While nobody measures, nothing grows, and existing files may
// stay.
void Sessions::KeepToDiskLimits() {
  if (!IsAnyRunning()) return;
  const SessionLimits& limits = options_.limits;
  for (;;) {
    const auto user = UserOfMostBytes();
    if (!user) return;
    const bool too_much_of_user = UsageOf(*user).bytes > limits.bytes_of_user;
    if (!too_much_of_user && UsageOf(std::nullopt).bytes <= limits.all_bytes) break;
    if (ForgetOne(*user)) continue;
    return EndLargest(*user, too_much_of_user
                                 ? fmt::format("the sessions of its user reached the limit of {}",
                                               FormatBytes(limits.bytes_of_user))
                                 : fmt::format("all sessions together reached the limit of {}",
                                               FormatBytes(limits.all_bytes)));
  }
}

void Sessions::EndLargest(uint32_t uid, const std::string& why) {
  Session* largest = nullptr;
  for (const auto& [id, session] : table_) {
    if (session->summary().uid != uid || !session->summary().running) continue;
    if (largest == nullptr || session->bytes() > largest->bytes()) largest = session.get();
  }
  if (largest == nullptr) return;
  Drain();
  EndSession(*largest, why);
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

// Drops a user's finished session that was not requested for longest; one with unread samples only
// if there is no other. False if there is none.
bool Sessions::ForgetOne(uint32_t uid) {
  const auto rank = [](const Session& session) {
    return std::make_pair(session.summary().published && session.read == 0, session.asked);
  };
  auto oldest = table_.end();
  for (auto entry = table_.begin(); entry != table_.end(); ++entry) {
    const SessionSummary& summary = entry->second->summary();
    if (summary.running || summary.uid != uid) continue;
    if (oldest == table_.end() || rank(*entry->second) < rank(*oldest->second)) oldest = entry;
  }
  if (oldest == table_.end()) return false;
  if (rank(*oldest->second).first) Say(*oldest->second, "forgotten before anybody read it");
  ForgetEntry(oldest);
  return true;
}

}  // namespace beryl::server
