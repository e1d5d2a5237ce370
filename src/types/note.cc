#include "types/note.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace beryl {

NoteValue::NoteValue(const NoteValue&) = default;
NoteValue::NoteValue(NoteValue&&) noexcept = default;
NoteValue& NoteValue::operator=(const NoteValue&) = default;
NoteValue& NoteValue::operator=(NoteValue&&) noexcept = default;
NoteValue::~NoteValue() = default;
NoteValue::NoteValue(std::string text) {
  if (!text.empty()) held_ = std::move(text);
}

namespace {

struct KindLook {
  std::string_view name;
  NoteClass note_class;
  std::string_view keys;
};

constexpr KindLook kLooks[] = {
#define BERYL_NOTE(kind, name, note_class, keys) {name, NoteClass::note_class, keys},
#include "types/note_kinds.inc"
#undef BERYL_NOTE
};

const KindLook& LookOf(NoteKind kind) { return kLooks[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view NoteClassName(NoteClass note_class) {
  static constexpr std::array<std::string_view, 5> kNames = {"note", "assumed", "dropped",
                                                             "skipped", "repaired"};
  return kNames[static_cast<size_t>(note_class)];
}

std::string_view NoteKindName(NoteKind kind) { return LookOf(kind).name; }

std::optional<NoteKind> FindNoteKind(std::string_view name) {
  for (const NoteKind kind : kAllNoteKinds) {
    if (NoteKindName(kind) == name) return kind;
  }
  return std::nullopt;
}

NoteClass ClassOf(NoteKind kind) { return LookOf(kind).note_class; }

bool SaysIncomplete(NoteKind kind) {
  switch (kind) {
    case NoteKind::kFileCutShort:
    case NoteKind::kFileDamaged:
    case NoteKind::kRunFileHeaderCut:
    case NoteKind::kRunFileNotFinished:
    case NoteKind::kRunFileBlockTooLarge:
    case NoteKind::kRunFileBlockCut:
    case NoteKind::kRunFileChecksumWrong:
    case NoteKind::kRunFileBlockNotRead:
    case NoteKind::kRunFileOperationsNotRead:
    case NoteKind::kBlocksDamaged:
    case NoteKind::kRecorderKilled:
    case NoteKind::kNoEvents:
    case NoteKind::kNoOperations:
    case NoteKind::kNoEventIsOperation:
      return true;
    default:
      return false;
  }
}

std::vector<std::string_view> KeysOf(NoteKind kind) {
  const std::string_view keys = LookOf(kind).keys;
  return keys.empty() ? std::vector<std::string_view>() : Split(keys, ' ');
}

const NoteValue* FindValue(const Note& note, std::string_view key) {
  const std::vector<std::string_view> keys = KeysOf(note.kind);
  const auto place = static_cast<size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  if (place >= std::min(keys.size(), note.values.size())) return nullptr;
  return note.values[place].known() ? &note.values[place] : nullptr;
}

void CountNote(std::vector<Note>& notes, const Note& note) {
  const auto same = std::find_if(notes.begin(), notes.end(), [&](const Note& known) {
    return known.kind == note.kind && known.subject == note.subject && known.source == note.source;
  });
  if (same == notes.end()) {
    notes.push_back(note);
    return;
  }
  same->count += note.count;
  if (same->first_byte && note.first_byte) {
    same->first_byte = std::min(*same->first_byte, *note.first_byte);
  }
}

void AppendNotes(std::vector<Note>& to, const std::vector<Note>& notes, const std::string& source) {
  for (const Note& note : notes) {
    Note& added = to.emplace_back(note);
    if (source.empty()) continue;
    added.source = added.source.empty() ? source : source + ": " + added.source;
  }
}

std::string PlainText(const Note& note) {
  std::string text(NoteKindName(note.kind));
  if (!note.subject.empty()) text += " " + note.subject;
  const std::vector<std::string_view> keys = KeysOf(note.kind);
  for (size_t i = 0; i < std::min(keys.size(), note.values.size()); ++i) {
    if (note.values[i].known())
      text += " " + std::string(keys[i]) + "=" + PlainText(note.values[i]);
  }
  return text;
}

std::string PlainText(const NoteValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value.held())) return *text;
  if (const auto* const why = std::get_if<GapReason>(&value.held())) {
    return std::string(GapReasonName(*why));
  }
  const auto* const number = std::get_if<double>(&value.held());
  if (number == nullptr) return "?";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr;
  return {digits.data(), end};
}

}  // namespace beryl
