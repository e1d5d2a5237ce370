#include "importers/chrome_events.h"

#include <fmt/format.h>

namespace beryl::importers {

std::optional<EventTimes::Interval> EventTimes::Get(uint64_t offset,
                                                    FindingCounter& findings) const {
  auto drop = [&](const char* reason) {
    findings.Count(Finding::Kind::kDropped, reason, offset);
    return std::nullopt;
  };
  if (start_state_ == State::kMissing) return drop("missing ts");
  if (start_state_ == State::kBad) return drop("ts is not a usable number");
  if (duration_state_ == State::kMissing) return drop("missing dur");
  if (duration_state_ == State::kBad) return drop("dur is not a usable number");
  if (duration_.value < 0) return drop("negative dur");
  if (start_state_ == State::kString || duration_state_ == State::kString) {
    findings.Count(Finding::Kind::kRepaired, "ts or dur written as a string", offset);
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
    report.Count(Finding::Kind::kDropped,
                 fmt::format("the file is cut short at byte {}: {}", end.bytes, end.why),
                 end.broke_at);
  }
  if (end.replaced_bytes > 0) {
    report.Count(Finding::Kind::kRepaired, "bytes that are not valid UTF-8 text",
                 end.first_replaced, end.replaced_bytes);
  }
}

bool LooksLikeEvents(std::string_view text) {
  const size_t start = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (start == std::string_view::npos) return false;
  return text[start] == '[' ||
         (text[start] == '{' && text.find("\"traceEvents\"") != std::string_view::npos);
}

}  // namespace beryl::importers
