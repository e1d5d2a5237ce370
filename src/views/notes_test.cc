#include "views/notes.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "views/views.h"

namespace beryl::views {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A note of which all is known.
Note Full(NoteKind kind) {
  Note note(kind, "SUBJECT");
  for (const std::string_view key : KeysOf(kind)) {
    if (key == "why") {
      note.values.emplace_back(GapReason::kCounterWentDown);
    } else {
      note.values.emplace_back(2);
    }
  }
  return note;
}

TEST(NotesTest, EveryKindHasWordsWhosePlacesCanBeFilled) {
  std::set<std::string> said;
  for (const NoteKind kind : kAllNoteKinds) {
    const std::string words = NoteWords(Full(kind));
    EXPECT_FALSE(words.empty()) << NoteKindName(kind);
    for (const char* left : {"{", "}", "[", "]", "?"}) {
      EXPECT_THAT(words, Not(HasSubstr(left))) << NoteKindName(kind);
    }
    const NoteClass of = ClassOf(kind);
    const bool recorded = words == "2";
    EXPECT_TRUE(said.insert(words).second || recorded || of == NoteClass::kSkipped) << words;
  }
}

// What is left out is never a value that everybody should see.
TEST(NotesTest, EveryValueIsSaid) {
  for (const NoteKind kind : kAllNoteKinds) {
    for (size_t i = 0; i < KeysOf(kind).size(); ++i) {
      Note other = Full(kind);
      other.values[i] = "ANOTHER";
      EXPECT_NE(NoteText(other), NoteText(Full(kind)))
          << NoteKindName(kind) << " " << KeysOf(kind)[i];
    }
  }
}

TEST(NotesTest, ValuesAreInTheUnitsOfTheirKeys) {
  EXPECT_EQ(NoteText({NoteKind::kPartlyKnown, "CPU:0", {0.5, 10, 0.05, GapReason::kNotRead}}),
            "CPU:0: nothing is known for 500 ms of 10.0 s (5.0%): it could not be read");
  EXPECT_EQ(NoteText({NoteKind::kContainerReadsLess, "wall", {1000, 2500}}),
            "wall reads 1.00 kJ, less than the 2.50 kJ of what it stands before: one of the meters "
            "is wrong");
  EXPECT_EQ(NoteText({NoteKind::kStandby, "", {12.5, 2}}), "standby: 12.5 W at a CPU load of 2.0%");
  EXPECT_EQ(NoteText({NoteKind::kNodesWithoutEnergy, "", {12345}}).substr(0, 28),
            "the energy of 12,345 node(s)");
  EXPECT_EQ(NoteText({NoteKind::kFileCutShort, "", {12345, "no end"}}),
            "the file is cut short at byte 12345: no end");
}

TEST(NotesTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(NoteText({NoteKind::kDoesNotFit, "", {140, NoteValue(), 80, 1, 2}}),
            "does not fit: 140 GB of weights, 80 GB of memory on 1 GPU; --gpus 2 would do");
  EXPECT_EQ(NoteText({NoteKind::kDoesNotFit, "", {140, 0.05, 160, 2}}),
            "does not fit: 140 GB of weights and 50 MB of keys and values, 160 GB of memory on 2 "
            "GPUs");
  EXPECT_EQ(NoteText({NoteKind::kFits, "", {1.5, NoteValue(), 80}}),
            "fits: 1.5 GB of weights, 80 GB of memory; activations are not counted");
  EXPECT_EQ(NoteText({NoteKind::kOperationsWithoutPower, "GPU:0", {"wall"}}),
            "GPU:0 has operations and no power: their energy is unknown (--feed wall=GPU:0 would "
            "give them wall's)");
}

TEST(NotesTest, HowOftenAndWhere) {
  Note note(NoteKind::kTextForNumber, "", {"flops 'many'"});
  note.first = "data.csv:12";
  EXPECT_EQ(NoteText(note),
            "text for a number; row left out (first: flops 'many') (1 time, first at data.csv:12)");
  note.count = 3000;
  EXPECT_THAT(NoteText(note), HasSubstr(" (3,000 times, first at data.csv:12)"));
  Note reading(NoteKind::kReadingNegative);
  reading.source = "power.csv";
  reading.first_byte = 77;
  EXPECT_EQ(NoteText(reading), "power.csv: 1 reading(s): a negative reading (first at byte 77)");
  Note damage(NoteKind::kRunFileBlockCut);
  damage.first_byte = 9;
  EXPECT_EQ(NoteText(damage),
            "the run file is cut short in a block; what stands before is used (at byte 9)");
  EXPECT_EQ(WriteNotes({NoteKind::kNoOperations, NoteKind::kAssumedHead}),
            "note: the operation trace has no operations\n"
            "assumed: with the language model's head, on the last token of each sequence\n");
}

TEST(NotesTest, InJson) {
  Note note(NoteKind::kPartlyKnown, "CPU:0", {0.5, 10, NoteValue(), GapReason::kCounterStoodStill});
  note.source = "run.beryl";
  JsonWriter json;
  json.BeginObject();
  WriteNotes(json, {note});
  json.End();
  const std::string text = json.Take();
  EXPECT_FALSE(json::FindSyntaxError(text));
  EXPECT_THAT(text, HasSubstr(R"("kind":"partly_known","class":"note","subject":"CPU:0",)"
                              R"("source":"run.beryl","missing_s":0.5,"recorded_s":10,)"
                              R"("missing_share":null,"why":"counter_stood_still","count":1,)"
                              R"("text":"run.beryl: CPU:0)"));
}

TEST(NotesTest, NothingBreaksALine) {
  Note note(NoteKind::kSessionEnded, "\x1b[2J", {"a\nb\x07"});
  note.source = "x\ny";
  note.first = "\n";
  EXPECT_EQ(WriteNotes({note}).find('\n'), WriteNotes({note}).size() - 1);
  EXPECT_THAT(WriteNotes({note}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace beryl::views
