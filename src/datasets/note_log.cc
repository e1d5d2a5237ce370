#include "datasets/note_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace beryl::datasets {
namespace {

constexpr size_t kLongestValue = 80;

std::string Example(std::string_view what, std::string_view value) {
  if (value.empty()) return Printable(what);
  const std::string shown = Ellipsize(Printable(value.substr(0, 4 * kLongestValue)), kLongestValue);
  return fmt::format("{} '{}'", Printable(what), shown);
}

}  // namespace

void NoteLog::Count(NoteKind kind, const std::string& file, uint64_t line, std::string_view what,
                    std::string_view value) {
  const auto same = std::find_if(notes_.begin(), notes_.end(),
                                 [&](const Note& note) { return note.kind == kind; });
  if (same != notes_.end()) {
    ++same->count;
    return;
  }
  Note& note = notes_.emplace_back(kind);
  if (!what.empty()) note.values = {Example(what, value)};
  note.first = line == 0 ? file : fmt::format("{}:{}", file, line);
}

std::vector<Note> NoteLog::Take() { return std::exchange(notes_, {}); }

std::string NoteLog::First() const {
  if (notes_.empty()) return {};
  const Note& note = notes_.front();
  std::string what(NoteKindName(note.kind));
  std::replace(what.begin(), what.end(), '_', ' ');
  const NoteValue* example = FindValue(note, "example");
  return fmt::format("{}: {}{}", note.first, what,
                     example == nullptr ? "" : ": " + PlainText(*example));
}

}  // namespace beryl::datasets
