// Notes in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "types/account_report.h"
#include "types/note.h"

namespace beryl::views {

// What it says, without what it belongs to, how often and where.
std::string NoteWords(const Note& note);
// All of it: "power.csv: CPU:0 has a single reading ...", "... (36 times, first at data.csv:12)".
std::string NoteText(const Note& note);
// "note: ...", "assumed: ..."
std::string NoteLine(const Note& note);
// "the counter stood still"
std::string_view GapReasonWords(GapReason why);

// All that is to say of a run: of its energy, its model and its files.
std::vector<Note> NotesOf(const AccountReport& report);

// "notes": objects of kind, class, subject, values, count, where first, and the text.
void WriteNotes(JsonWriter& json, const std::vector<Note>& notes);
// Sentences, as they stood before notes were objects.
void WriteNoteTexts(JsonWriter& json, std::string_view key, const std::vector<Note>& notes);

}  // namespace beryl::views
