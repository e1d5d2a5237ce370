#include "store/notes_block.h"

#include <algorithm>
#include <array>
#include <utility>

namespace beryl::store {
namespace {

enum class ValueType : uint8_t { kNumber = 0, kText = 1, kGapReason = 2 };

// The bytes are in a string, so that an unknown type can be skipped.
void PutValue(std::string& out, const NoteValue& value) {
  std::string bytes;
  ValueType type = ValueType::kText;
  if (const auto* const number = std::get_if<double>(&value.held())) {
    type = ValueType::kNumber;
    PutFixed(bytes, *number);
  } else if (const auto* const why = std::get_if<GapReason>(&value.held())) {
    type = ValueType::kGapReason;
    bytes = GapReasonName(*why);
  } else if (const auto* const text = std::get_if<std::string>(&value.held())) {
    bytes = *text;
  }
  PutVarint(out, static_cast<uint64_t>(type));
  PutString(out, bytes);
}

NoteValue TakeValue(Decoder& decoder) {
  const uint64_t type = decoder.Varint();
  const std::string_view bytes = decoder.String();
  if (type == static_cast<uint64_t>(ValueType::kNumber)) return Decoder(bytes).Fixed<double>();
  if (type == static_cast<uint64_t>(ValueType::kText)) return bytes;
  if (type != static_cast<uint64_t>(ValueType::kGapReason)) return {};
  return FindGapReason(bytes).value_or(GapReason::kNotTold);
}

using NamedValues = std::vector<std::pair<std::string_view, NoteValue>>;

std::vector<NoteValue> InOrder(NoteKind kind, const NamedValues& named) {
  std::vector<NoteValue> values;
  for (const std::string_view key : KeysOf(kind)) {
    const auto place = std::find_if(named.begin(), named.end(),
                                    [&](const auto& value) { return value.first == key; });
    values.push_back(place == named.end() ? NoteValue() : place->second);
  }
  return values;
}

// From a later version: shows its name and values without words.
Note NotKnown(std::string_view name, NoteClass note_class, std::string_view subject,
              const NamedValues& named) {
  std::string said(name);
  std::replace(said.begin(), said.end(), '_', ' ');
  if (!subject.empty()) said += ": " + std::string(subject);
  for (const auto& [key, value] : named) {
    said += ", " + std::string(key) + " " + PlainText(value);
  }
  return RecordedText(note_class, said);
}

Note TakeNote(Decoder& decoder) {
  const std::string_view name = decoder.String();
  const uint64_t class_number = decoder.Varint();
  const auto note_class = class_number <= static_cast<uint64_t>(NoteClass::kRepaired)
                              ? static_cast<NoteClass>(class_number)
                              : NoteClass::kTold;
  const std::string_view subject = decoder.String();
  const std::string_view source = decoder.String();
  const uint64_t count = decoder.Varint();
  const std::string_view first = decoder.String();
  const uint64_t byte_plus_one = decoder.Varint();
  NamedValues named;
  for (size_t left = decoder.Count(); left > 0; --left) {
    const std::string_view key = decoder.String();
    named.emplace_back(key, TakeValue(decoder));
  }
  const auto kind = FindNoteKind(name);
  Note note = kind ? Note(*kind, std::string(subject), InOrder(*kind, named))
                   : NotKnown(name, note_class, subject, named);
  note.source = source;
  note.count = count;
  note.first = first;
  if (byte_plus_one > 0) note.first_byte = byte_plus_one - 1;
  return note;
}

}  // namespace

std::string EncodeNotes(NotesAbout about, const std::vector<Note>& notes) {
  std::string out;
  PutVarint(out, static_cast<uint64_t>(about));
  PutVarint(out, notes.size());
  for (const Note& note : notes) {
    PutString(out, NoteKindName(note.kind));
    PutVarint(out, static_cast<uint64_t>(ClassOf(note.kind)));
    PutString(out, note.subject);
    PutString(out, note.source);
    PutVarint(out, note.count);
    PutString(out, note.first);
    PutVarint(out, note.first_byte ? *note.first_byte + 1 : 0);
    const std::vector<std::string_view> keys = KeysOf(note.kind);
    const size_t count = std::min(keys.size(), note.values.size());
    PutVarint(out,
              static_cast<uint64_t>(std::count_if(
                  note.values.begin(), note.values.begin() + static_cast<std::ptrdiff_t>(count),
                  [](const NoteValue& value) { return value.known(); })));
    for (size_t i = 0; i < count; ++i) {
      if (!note.values[i].known()) continue;
      PutString(out, keys[i]);
      PutValue(out, note.values[i]);
    }
  }
  return out;
}

std::vector<Note> DecodeNotes(Decoder& decoder) {
  std::vector<Note> notes;
  decoder.Each([&] { notes.push_back(TakeNote(decoder)); });
  return notes;
}

Note RecordedText(NoteClass note_class, std::string_view said) {
  static constexpr std::array kKinds = {NoteKind::kRecordedText, NoteKind::kRecordedText,
                                        NoteKind::kRecordedDropped, NoteKind::kRecordedSkipped,
                                        NoteKind::kRecordedRepaired};
  return {kKinds[static_cast<size_t>(note_class)], "", {said}};
}

}  // namespace beryl::store
