// Notes as they stand in a run file: each with the names of its kind and of its values, so that a
// reader that does not know a kind can still say something.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/encoding.h"
#include "types/note.h"

namespace beryl::store {

// What the notes of a block are about.
enum class NotesAbout : uint8_t {
  kRun = 0,        // its inputs
  kRecording = 1,  // what is told again is the same note
  kReport = 2,     // the report before this block
};

std::string EncodeNotes(NotesAbout about, const std::vector<Note>& notes);
// Those that follow `about`. A kind that is not known becomes a text of its class.
std::vector<Note> DecodeNotes(Decoder& decoder);

// A sentence, as the first versions wrote them.
Note RecordedText(NoteClass note_class, std::string_view said);

}  // namespace beryl::store
