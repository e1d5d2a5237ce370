#include "types/note.h"

#include <limits>
#include <set>

#include "base/matchers_for_test.h"
#include "types/note_testing.h"

namespace beryl {
namespace {

TEST(NoteTest, EveryKindHasANameOfItsOwnAndKeysThatLeaveTheOthersAlone) {
  std::set<std::string_view> names;
  for (const NoteKind kind : kAllNoteKinds) {
    EXPECT_TRUE(names.insert(NoteKindName(kind)).second) << NoteKindName(kind);
    EXPECT_EQ(FindNoteKind(NoteKindName(kind)), kind);
    std::set<std::string_view> keys = {"kind",  "class", "subject",    "source",
                                       "count", "first", "first_byte", "text"};
    for (const std::string_view key : KeysOf(kind)) {
      EXPECT_TRUE(keys.insert(key).second) << NoteKindName(kind) << " " << key;
    }
  }
  EXPECT_FALSE(FindNoteKind("no_such_kind"));
}

TEST(NoteTest, EveryGapReasonHasAName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kGapReasonCount; ++i) {
    const auto why = static_cast<GapReason>(i);
    EXPECT_TRUE(names.insert(GapReasonName(why)).second);
    EXPECT_EQ(FindGapReason(GapReasonName(why)), why);
  }
  EXPECT_FALSE(FindGapReason("the weather"));
}

TEST(NoteTest, AValueThatIsNoNumberOrNoTextIsNotKnown) {
  EXPECT_FALSE(NoteValue().known());
  EXPECT_FALSE(NoteValue("").known());
  EXPECT_FALSE(NoteValue(std::numeric_limits<double>::quiet_NaN()).known());
  EXPECT_FALSE(NoteValue(std::numeric_limits<double>::infinity()).known());
  EXPECT_EQ(NoteValue(std::numeric_limits<double>::quiet_NaN()), NoteValue());
  const Note note(NoteKind::kPartNotRead, "DRAM:0", {NoteValue(), "wall"});
  EXPECT_EQ(FindValue(note, "missing_s"), nullptr);
  ASSERT_NE(FindValue(note, "container"), nullptr);
  EXPECT_EQ(FindValue(note, "no such key"), nullptr);
  EXPECT_EQ(PlainText(note), "part_not_read DRAM:0 container=wall");
}

TEST(NoteTest, TheSameIsCountedAndItsFirstPlaceStays) {
  std::vector<Note> notes;
  for (const char* place : {"a:1", "a:2"}) {
    for (const char* subject : {"Rotary", "Swish"}) {
      Note note(NoteKind::kTypeNotTrained, subject);
      note.first = place;
      CountNote(notes, note);
    }
  }
  EXPECT_THAT(Plain(notes), ElementsAre("type_not_trained Rotary", "type_not_trained Swish"));
  EXPECT_EQ(notes[0].count, 2U);
  EXPECT_EQ(notes[0].first, "a:1");
}

TEST(NoteTest, SourcesAreKept) {
  std::vector<Note> inner;
  AppendNotes(inner, {NoteKind::kNoOperations}, "power.csv");
  std::vector<Note> outer;
  AppendNotes(outer, inner, "before");
  AppendNotes(outer, inner);
  EXPECT_EQ(outer[0].source, "before: power.csv");
  EXPECT_EQ(outer[1].source, "power.csv");
}

}  // namespace
}  // namespace beryl
