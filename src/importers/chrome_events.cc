#include "importers/chrome_events.h"

namespace beryl::importers {

std::optional<EventTimes::Interval> EventTimes::Get(uint64_t offset, NoteCounter& notes) const {
  auto drop = [&](NoteKind why) {
    notes.Count(why, offset);
    return std::nullopt;
  };
  if (start_state_ == State::kMissing) return drop(NoteKind::kMissingTs);
  if (start_state_ == State::kBad) return drop(NoteKind::kTsNotUsable);
  if (duration_state_ == State::kMissing) return drop(NoteKind::kMissingDur);
  if (duration_state_ == State::kBad) return drop(NoteKind::kDurNotUsable);
  if (duration_.value < 0) return drop(NoteKind::kNegativeDur);
  if (start_state_ == State::kString || duration_state_ == State::kString) {
    notes.Count(NoteKind::kTimeAsString, offset);
  }
  return Interval{start_, start_ + duration_};
}

std::vector<std::string_view> WorkerStrings::TakeNew() {
  std::vector<std::string_view> texts;
  texts.reserve(table_.size() - published_);
  for (; published_ < table_.size(); ++published_) {
    texts.push_back(table_.Text(static_cast<StringId>(published_)));
  }
  return texts;
}

void ReportStreamEnd(const EventStreamEnd& end, ImportReport& report) {
  if (end.truncated) {
    report.Count({NoteKind::kFileCutShort, "", {end.bytes, end.why}}, end.broke_at);
  }
  if (end.replaced_bytes > 0) {
    report.Count(NoteKind::kNotUtf8, end.first_replaced, end.replaced_bytes);
  }
}

bool LooksLikeEvents(std::string_view text) {
  const size_t start = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (start == std::string_view::npos) return false;
  return text[start] == '[' ||
         (text[start] == '{' && text.find("\"traceEvents\"") != std::string_view::npos);
}

}  // namespace beryl::importers
