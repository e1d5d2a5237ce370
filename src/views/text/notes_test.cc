#include "views/text/notes.h"

#include <set>

#include "base/json.h"
#include "base/matchers_for_test.h"
#include "views/views.h"

namespace beryl::views {
namespace {

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
            "CPU:0: its energy is unknown for 500 ms of 10.0 s (5.0%): it could not be read");
  EXPECT_EQ(NoteText({NoteKind::kContainerReadsLess, "wall", {1000, 2500}}),
            "wall reads 1.00 kJ, less than the 2.50 kJ of the devices behind it: one of the meters "
            "is wrong");
  EXPECT_EQ(NoteText({NoteKind::kStandby, "", {12.5, 2}}), "standby: 12.5 W at a CPU load of 2.0%");
  EXPECT_EQ(NoteText({NoteKind::kNodesWithoutEnergy, "", {12345}}).substr(0, 28),
            "the energy of 12,345 node(s)");
  EXPECT_EQ(NoteText({NoteKind::kFileCutShort, "", {12345, "no end"}}),
            "the file is truncated at byte 12345: no end");
}

TEST(NotesTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(NoteText({NoteKind::kDoesNotFit, "", {140, NoteValue(), 80, 1, 2}}),
            "does not fit: 140 GB of weights; 80.0 GB of memory on 1 GPU; 2 GPUs would do");
  EXPECT_EQ(
      NoteText({NoteKind::kDoesNotFit, "", {140, 0.05, 160, 2}}),
      "does not fit: 140 GB of weights, 50.0 MB of keys and values; 160 GB of memory on 2 GPUs");
  EXPECT_EQ(NoteText({NoteKind::kFits, "", {9.44e-6, 768e-9, 80}}),
            "fits: 9.44 kB of weights, 768 B of keys and values; 80.0 GB of memory")
      << "as above the note, not 1 MB of each";
  EXPECT_EQ(NoteText({NoteKind::kFits, "", {1.5, NoteValue(), 80}}),
            "fits: 1.50 GB of weights; 80.0 GB of memory");
  EXPECT_EQ(NoteText({NoteKind::kFits, "", {1, NoteValue(), 80, 1, 2, 1, 3}}),
            "fits: 1.00 GB of weights, 1.00 GB of gradients, 3.00 GB of optimizer state, 2.00 GB "
            "of activations and scores; 80.0 GB of memory on 1 GPU");
  EXPECT_EQ(NoteText({NoteKind::kAssumedEvenExperts, "", {1, 2, 8, 2}}),
            "experts are chosen evenly: a pass of 1 token touches 2 of 8 experts of a layer, 2 "
            "each token");
  EXPECT_EQ(
      NoteText({NoteKind::kOperationsWithoutPower, "GPU:0", {"wall"}}),
      "GPU:0 has operations but no power: their energy is unknown; a feed from wall would give "
      "them its energy");
}

TEST(NotesTest, OptionsAreNamedWhereTheReaderHasThem) {
  EXPECT_EQ(NoteText({NoteKind::kAssumedTokens, "", {128}}), "sequences of 128 tokens");
  EXPECT_EQ(NoteText({NoteKind::kAssumedTokens, "", {128}}, "--"),
            "sequences of 128 tokens (--seq)");
}

TEST(NotesTest, HowOftenAndWhere) {
  Note note(NoteKind::kTextForNumber, "", {"flops 'many'"});
  note.first = "data.csv:12";
  EXPECT_EQ(NoteText(note),
            "text in place of a number; row left out (first: flops 'many') (1 time, first at "
            "data.csv:12)");
  note.count = 3000;
  EXPECT_THAT(NoteText(note), HasSubstr(" (3,000 times, first at data.csv:12)"));
  Note reading(NoteKind::kReadingNegative);
  reading.source = "power.csv";
  reading.first_byte = 77;
  EXPECT_EQ(NoteText(reading), "power.csv: 1 reading(s): a negative reading (first at byte 77)");
  Note damage(NoteKind::kRunFileBlockCut);
  damage.first_byte = 9;
  EXPECT_EQ(NoteText(damage),
            "the run file is truncated in a block; the part before is used (at byte 9)");
  EXPECT_EQ(WriteNotes({NoteKind::kNoOperations, NoteKind::kAssumedHead}),
            "note: the operation trace has no operations\n"
            "assumed: with the language model's head, on the last token of each sequence\n");
  EXPECT_EQ(WriteNotes({NoteKind::kRecordedSkipped}), "") << "of no interest";
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

TEST(NotesTest, WhatIsMissingComesBeforeTheRestOfAStamp) {
  Provenance provenance;
  provenance.tool = "beryl";
  EXPECT_THAT(IncompleteTexts(provenance), IsEmpty());
  EXPECT_EQ(StampLine(provenance), "beryl");
  Note note(NoteKind::kRunFileBlockCut);
  note.source = "run.beryl";
  AddIncomplete({note, note, NoteKind::kCounterWrapped, NoteKind::kNoOperations}, "", provenance);
  EXPECT_THAT(IncompleteTexts(provenance),
              ElementsAre(StartsWith("INCOMPLETE input: run.beryl: "),
                          "INCOMPLETE input: the operation trace has no operations"));
  EXPECT_THAT(StampLine(provenance), StartsWith("INCOMPLETE input: run.beryl: "));
  EXPECT_THAT(StampLine(provenance), EndsWith("; beryl"));
  EXPECT_EQ(WriteIncomplete(provenance),
            IncompleteTexts(provenance)[0] + "\n" + IncompleteTexts(provenance)[1] + "\n");
}

}  // namespace
}  // namespace beryl::views
