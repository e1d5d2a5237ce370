// Notes in a run file: each with the names of its kind and values, so that a reader can show a kind
// it does not know.
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
  kRecording = 1,  // a repeated note is the same note
  kReport = 2,     // the report before this block
};

std::string EncodeNotes(NotesAbout about, const std::vector<Note>& notes);
// The notes that follow `about`. An unknown kind becomes a text of its class.
std::vector<Note> DecodeNotes(Decoder& decoder);

// A sentence, as written by the first versions.
Note RecordedText(NoteClass note_class, std::string_view said);

}  // namespace beryl::store
