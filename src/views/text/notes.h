// Notes in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "types/account_report.h"
#include "types/note.h"
#include "types/provenance.h"

namespace beryl::views {

// The sentence without source, count and place. `flag` is that of ViewOptions.
std::string NoteWords(const Note& note, std::string_view flag = {});
// All of it: "power.csv: CPU:0 has a single reading ...", "... (36 times, first at data.csv:12)".
std::string NoteText(const Note& note, std::string_view flag = {});
// "note: ...", "assumed: ..."
// What is missing of the input of a result, a sentence each; see Provenance::incomplete.
std::vector<std::string> IncompleteTexts(const Provenance& provenance);
// All of a provenance in one line, for formats without a place for notes: what is missing first.
std::string StampLine(const Provenance& provenance);

std::string NoteLine(const Note& note, std::string_view flag = {});
// "the counter stood still"
std::string_view GapReasonWords(GapReason why);

// "notes": objects of kind, class, subject, values, count, where first, and the text.
void WriteNotes(JsonWriter& json, const std::vector<Note>& notes);
// The sentences of the older JSON.
void WriteNoteTexts(JsonWriter& json, std::string_view key, const std::vector<Note>& notes);

}  // namespace beryl::views
