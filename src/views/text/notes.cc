#include "views/text/notes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/views.h"

namespace beryl::views {
namespace {

struct KindWords {
  NoteKind kind;
  std::string_view words;
};

constexpr KindWords kWords[] = {
#define BERYL_WORDS(kind, words) {NoteKind::kind, words},
#include "views/text/note_words.inc"
#undef BERYL_WORDS
};

constexpr bool HasWordsForAll() {
  size_t next = 0;
  for (const NoteKind kind : kAllNoteKinds) {
    if (next == std::size(kWords) || kWords[next++].kind != kind) return false;
  }
  return next == std::size(kWords);
}
static_assert(HasWordsForAll(), "note_words.inc has the kinds of note_kinds.inc, in their order");

constexpr std::array<std::string_view, kGapReasonCount> kGapWords = {
    "the readings there cannot be used",
    "the counter went down",
    "the counter went down without a wrap: it was reset",
    "the counter stood still",
    "the counter stood still until the end",
    "the counter never moved",
    "the counter stepped only once: when it started to count is unknown",
    "there was no reading for so long that the counter may have wrapped more than once",
    "it could not be read",
    "it could not be read, and did not count in the meantime",
    "it could no longer be read",
    "the part that is ours is unknown",
    "the meter gave no readings",
    "before the first reading",
    "after the last reading",
};

std::string BytesText(double bytes) {
  return FormatBytes(static_cast<uint64_t>(std::clamp(bytes, 0.0, 1e18)));
}

std::string NumberText(std::string_view key, double number) {
  if (key.ends_with("_s")) return FormatSeconds(number);
  if (key.ends_with("_j")) return FormatJoules(number);
  if (key.ends_with("_w")) return FormatWatts(number);
  if (key.ends_with("_gb")) return BytesText(number * 1e9);
  if (key.ends_with("_pct")) return FormatPercent(number / 100);
  if (key.ends_with("share")) return FormatPercent(number);
  if (key == "similarity") return FormatFixed(number, 4);
  if (key.ends_with("_bytes")) return BytesText(number);
  const bool whole = number >= 0 && number < 1e18 && number == std::floor(number);
  if (!whole) return FormatFixed(number, std::abs(number) < 10 ? 1 : 0);
  // A place is not an amount.
  return key == "byte" ? fmt::format("{:.0f}", number) : FormatCount(static_cast<uint64_t>(number));
}

std::string ValueText(std::string_view key, const NoteValue& value) {
  if (const auto* const why = std::get_if<GapReason>(&value.held())) {
    return std::string(GapReasonWords(*why));
  }
  const auto* const number = std::get_if<double>(&value.held());
  return number != nullptr ? NumberText(key, *number) : PlainText(value);
}

// Puts values into words, piece by piece.
class Filler {
 public:
  Filler(const Note& note, std::string_view flag) : note_(note), flag_(flag) {}

  std::string Fill(std::string_view words) {
    std::string text;
    while (!words.empty()) {
      const char first = words.front();
      words.remove_prefix(1);
      if (first == '{') {
        const size_t end = words.find('}');
        text += Value(words.substr(0, end));
        words.remove_prefix(end + 1);
      } else if (first == '[') {
        const size_t end = words.find(']');
        Filler piece(note_, flag_);
        const std::string inside = piece.Fill(words.substr(0, end));
        if (piece.all_known_) text += inside;
        words.remove_prefix(end + 1);
      } else {
        text += first;
      }
    }
    return text;
  }

 private:
  std::string Value(std::string_view place) {
    const size_t bar = place.find('|');
    const std::string_view key = place.substr(0, bar);
    if (key == "subject") return note_.subject;
    if (key == "flag") {
      all_known_ = all_known_ && !flag_.empty();
      return std::string(flag_);
    }
    if (key == "count") return FormatCount(note_.count);
    const NoteValue* value = FindValue(note_, key);
    all_known_ = all_known_ && value != nullptr;
    if (value == nullptr) return "?";
    std::string text = ValueText(key, *value);
    if (bar == std::string_view::npos) return text;
    return fmt::format("{} {}{}", text, place.substr(bar + 1), text == "1" ? "" : "s");
  }

  const Note& note_;
  std::string_view flag_;
  bool all_known_ = true;
};

std::string_view WordsOf(NoteKind kind) { return kWords[static_cast<size_t>(kind)].words; }

// " (36 times, first at data.csv:12)", " (at byte 77)"; empty: there is nothing to say.
std::string PlaceText(const Note& note, bool count_is_said) {
  std::string place = note.first;
  if (note.first_byte) place = fmt::format("byte {}", *note.first_byte);
  if (place.empty() && (count_is_said || note.count == 1)) return "";
  if (count_is_said) return fmt::format(" (first at {})", place);
  if (note.first_byte && note.count == 1) return fmt::format(" (at {})", place);
  return fmt::format(" ({} time{}{}{})", FormatCount(note.count), note.count == 1 ? "" : "s",
                     place.empty() ? "" : ", first at ", place);
}

void WriteValue(JsonWriter& json, std::string_view key, const NoteValue& value) {
  json.Key(key);
  const auto* const number = std::get_if<double>(&value.held());
  if (!value.known()) {
    json.Value(std::optional<double>());
  } else if (number == nullptr) {
    json.Value(PlainText(value));
  } else if (*number == std::floor(*number) && std::abs(*number) < 1e15) {
    json.Value(static_cast<int64_t>(*number));
  } else {
    json.Value(*number);
  }
}

}  // namespace

std::string_view GapReasonWords(GapReason why) { return kGapWords[static_cast<size_t>(why)]; }

std::string NoteWords(const Note& note, std::string_view flag) {
  return Printable(Filler(note, flag).Fill(WordsOf(note.kind)));
}

std::string NoteText(const Note& note, std::string_view flag) {
  std::string text = note.source.empty() ? "" : Printable(note.source) + ": ";
  text += NoteWords(note, flag);
  if (const NoteValue* example = FindValue(note, "example")) {
    text += fmt::format(" (first: {})", Printable(PlainText(*example)));
  }
  const bool count_is_said = WordsOf(note.kind).find("{count}") != std::string_view::npos;
  return text + Printable(PlaceText(note, count_is_said));
}

std::vector<std::string> IncompleteTexts(const Provenance& provenance) {
  std::vector<std::string> texts;
  for (const Note& note : provenance.incomplete) {
    texts.push_back("INCOMPLETE input: " + NoteText(note));
  }
  return texts;
}

std::string WriteIncomplete(const Provenance& provenance) {
  std::string lines;
  for (const std::string& text : IncompleteTexts(provenance)) lines += text + "\n";
  return lines;
}

std::string StampLine(const Provenance& provenance) {
  std::string line;
  for (const std::string& text : IncompleteTexts(provenance)) line += text + "; ";
  return line + StampText(provenance);
}

std::string NoteLine(const Note& note, std::string_view flag) {
  const bool assumed = ClassOf(note.kind) == NoteClass::kAssumed;
  return (assumed ? "assumed: " : "note: ") + NoteText(note, flag);
}

std::vector<Note> NotesOf(const AccountReport& report) {
  std::vector<Note> notes = report.notes;
  if (report.alignment) AppendNotes(notes, report.alignment->notes);
  for (const ImportReport& import : report.imports) AppendNotes(notes, import.notes, import.file);
  return notes;
}

void WriteNotes(JsonWriter& json, const std::vector<Note>& notes) {
  json.Key("notes").BeginArray();
  for (const Note& note : notes) {
    json.BeginObject();
    json.Member("kind", NoteKindName(note.kind)).Member("class", NoteClassName(ClassOf(note.kind)));
    json.Member("subject", note.subject);
    if (!note.source.empty()) json.Member("source", note.source);
    const std::vector<std::string_view> keys = KeysOf(note.kind);
    for (size_t i = 0; i < keys.size(); ++i) {
      WriteValue(json, keys[i], i < note.values.size() ? note.values[i] : NoteValue());
    }
    json.Member("count", note.count);
    if (!note.first.empty()) json.Member("first", note.first);
    if (note.first_byte) json.Member("first_byte", *note.first_byte);
    json.Member("text", NoteText(note));
    json.End();
  }
  json.End();
}

void WriteNoteTexts(JsonWriter& json, std::string_view key, const std::vector<Note>& notes) {
  json.Key(key).BeginArray();
  for (const Note& note : notes) json.Value(NoteText(note));
  json.End();
}

std::string WriteNotes(const std::vector<Note>& notes, std::string_view flag) {
  std::string text;
  for (const Note& note : notes) {
    if (ClassOf(note.kind) != NoteClass::kSkipped) text += NoteLine(note, flag) + "\n";
  }
  return text;
}

}  // namespace beryl::views
