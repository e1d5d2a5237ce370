// The file's skeleton: a header, then blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "types/note.h"

namespace beryl::store {

inline constexpr std::string_view kMagic =
    "\x89"
    "BERYL\r\n";
inline constexpr uint32_t kVersion = 1;

// Types a reader does not know are passed over: later versions may add some.
enum class BlockType : uint8_t {
  kContext = 1,   // where the run came from
  kStrings = 2,   // names that later blocks refer to by number
  kPaths = 3,     // places in the program
  kNames = 4,     // devices, ranks, steps
  kKinds = 5,     // operations but for when they ran
  kDataflow = 6,  // arrows between kinds
  kOps = 7,       // when they ran
  kPower = 8,     // readings of one channel
  kReport = 9,    // what became of one input file
  kEnd = 10,      // the file is whole
  // Of a recording, which a killed recorder leaves without its end.
  kMeter = 11,           // what a channel's meter says of itself
  kRecordingStart = 12,  // what was watched, and from when on
  kCpus = 13,            // which package each is part of
  kTasks = 14,           // those that are new
  kActivity = 15,        // who used the CPUs
  kFeatureColumns = 16,  // what the next features are of
  kFeatures = 17,        // how busy everything was
  kWindow = 18,          // a stretch of the run that has a name
  kRecordingEnd = 19,    // when, why, and what recording cost
  kSentences = 20,       // notes as the first versions wrote them: only read
  kNotes = 21,           // what a reader has to know
};

// How the bytes of a block are stored.
enum class Coding : uint8_t { kPlain = 0, kDeflated = 1 };

// Appends blocks to a file.
class BlockWriter {
 public:
  explicit BlockWriter(GrowingFile& file) : file_(file) {}

  Result<bool> Start();
  // `pack`: make it smaller, if that is worth it.
  Result<bool> Add(BlockType type, std::string_view bytes, bool pack);
  // Marks the file as whole.
  Result<bool> Finish();

 private:
  GrowingFile& file_;
};

struct Block {
  BlockType type = BlockType::kEnd;
  Coding coding = Coding::kPlain;
  uint32_t size = 0;  // decoded
  uint32_t checksum = 0;
  std::string stored;
  uint64_t offset = 0;  // of the block in the file
};

// The bytes of a block as they were before storing; nothing if they are damaged. Safe on any
// thread.
std::optional<std::string> BytesOf(Block& block);

class BlockReader {
 public:
  explicit BlockReader(ByteSource& source) : source_(source) {}

  Result<bool> Start();
  // The next block, or nothing at the end of what is whole; damage() then says if more was meant to
  // follow.
  Result<std::optional<Block>> Next();
  std::optional<NoteKind> damage() const { return damage_; }
  uint64_t offset() const { return offset_; }

 private:
  ByteSource& source_;
  uint64_t offset_ = 0;
  std::optional<NoteKind> damage_;
};

}  // namespace beryl::store
