#include "store/notes_block.h"

#include "base/matchers_for_test.h"
#include "store/power_block.h"
#include "types/note_testing.h"

namespace beryl::store {
namespace {

std::vector<Note> Decoded(const std::string& bytes) {
  Decoder decoder(bytes);
  decoder.Varint();  // what they are about
  std::vector<Note> notes = DecodeNotes(decoder);
  EXPECT_FALSE(decoder.failed());
  return notes;
}

TEST(NotesBlock, NotesComeBackAsTheyWere) {
  std::vector<Note> notes = {
      {NoteKind::kPartlyKnown, "CPU:0", {0.25, NoteValue(), 1e300, GapReason::kCounterStoodStill}},
      {NoteKind::kSessionEnded, "", {"it was stopped"}},
      NoteKind::kNoOperations,
      {NoteKind::kMetadata}};
  notes[0].values.resize(4);
  notes[1].source = "power.csv";
  notes[2].count = 7;
  notes[2].first = "data.csv:12";
  notes[3].first_byte = 0;
  EXPECT_EQ(Decoded(EncodeNotes(NotesAbout::kRun, notes))[0], notes[0]);
  EXPECT_EQ(Decoded(EncodeNotes(NotesAbout::kRun, notes)), notes);
}

// What a later version may write: a kind, a class and a type of value that are not known here.
TEST(NotesBlock, AKindThatIsNotKnownBecomesText) {
  std::string bytes;
  PutVarint(bytes, 0);
  PutVarint(bytes, 2);
  for (const uint64_t note_class : {uint64_t{2}, uint64_t{99}}) {
    PutString(bytes, "meter_caught_fire");
    PutVarint(bytes, note_class);
    PutString(bytes, "GPU:0");
    PutString(bytes, "");
    PutVarint(bytes, 3);
    PutString(bytes, "");
    PutVarint(bytes, 78);
    PutVarint(bytes, 2);
    PutString(bytes, "celsius");
    PutVarint(bytes, 1);
    PutString(bytes, "hot");
    PutString(bytes, "colour");
    PutVarint(bytes, 77);
    PutString(bytes, "????");
  }
  const std::vector<Note> notes = Decoded(bytes);
  EXPECT_THAT(Plain(notes),
              ElementsAre("recorded_dropped said=meter caught fire: GPU:0, celsius hot, colour ?",
                          "recorded_text said=meter caught fire: GPU:0, celsius hot, colour ?"));
  EXPECT_EQ(notes[0].count, 3U);
  EXPECT_EQ(notes[0].first_byte, 77U);
}

TEST(NotesBlock, BytesThatEndTooSoonAreSeen) {
  const std::string bytes =
      EncodeNotes(NotesAbout::kRecording, {{NoteKind::kPartNotRead, "DRAM:0", {1.5, "wall"}}});
  for (size_t size = 1; size < bytes.size(); ++size) {
    Decoder decoder(std::string_view(bytes).substr(0, size));
    decoder.Varint();
    DecodeNotes(decoder);
    EXPECT_TRUE(decoder.failed()) << size;
  }
}

// The first versions wrote down why there is a gap as a sentence, or not at all.
TEST(PowerBlock, OldGapsAreRead) {
  PowerChannel channel;
  channel.name = "CPU:0";
  channel.kind = ChannelKind::kEnergyCounter;
  channel.times = {Nanos{0}, Nanos{10}, Nanos{20}};
  channel.values = {0, 1, 2};
  channel.gaps = {{1, GapReason::kMayHaveWrapped}};
  const auto read = [](const std::string& bytes) {
    Decoder decoder(bytes);
    decoder.String();
    decoder.Varint();
    PowerChannel into;
    EXPECT_TRUE(DecodePower(decoder, into));
    return into.gaps;
  };
  const std::string now = EncodePower(channel, 0, 3);
  EXPECT_EQ(read(now), channel.gaps);
  std::string name;
  PutString(name, GapReasonName(GapReason::kMayHaveWrapped));
  const std::string without = now.substr(0, now.size() - name.size());
  EXPECT_THAT(read(without), ElementsAre(PowerGap{1, GapReason::kNotTold}));
  for (const auto& [sentence, why] :
       {std::pair{"the counter stood still", GapReason::kCounterStoodStill},
        std::pair{"the counter stood still until the end", GapReason::kStoodStillToTheEnd},
        std::pair{"no reading for 2.00 s: the counter may have wrapped more than once",
                  GapReason::kMayHaveWrapped},
        std::pair{"something else", GapReason::kNotTold}}) {
    std::string old = without;
    PutString(old, sentence);
    EXPECT_THAT(read(old), ElementsAre(PowerGap{1, why})) << sentence;
  }
}

}  // namespace
}  // namespace beryl::store
