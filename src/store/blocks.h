// The structure of the file: a header, then blocks.
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

// Readers skip unknown types: later versions may add some.
enum class BlockType : uint8_t {
  kContext = 1,   // where the run came from
  kStrings = 2,   // names that later blocks refer to by number
  kPaths = 3,     // places in the program
  kNames = 4,     // devices, ranks, steps
  kKinds = 5,     // operations without their times
  kDataflow = 6,  // arrows between kinds
  kOps = 7,       // times of operations
  kPower = 8,     // readings of one channel
  kReport = 9,    // how one input file was imported
  kEnd = 10,      // the file is complete
  // Only in a recording; a killed recorder leaves no kRecordingEnd.
  kMeter = 11,           // properties of a channel's meter
  kRecordingStart = 12,  // what was watched, and since when
  kCpus = 13,            // the package of each
  kTasks = 14,           // new tasks
  kActivity = 15,        // who used the CPUs
  kFeatureColumns = 16,  // the columns of the next features
  kFeatures = 17,        // how busy everything was
  kWindow = 18,          // a named stretch of the run
  kRecordingEnd = 19,    // time, reason, and cost of recording
  kSentences = 20,       // notes of the first versions: read only
  kNotes = 21,           // what a reader must know
  kDtypes = 22,          // the numbers that matrix products of the trace work on
};

// How the bytes of a block are stored.
enum class Coding : uint8_t { kPlain = 0, kDeflated = 1 };

// Appends blocks to a file.
class BlockWriter {
 public:
  explicit BlockWriter(GrowingFile& file) : file_(file) {}

  Status Start();
  // `pack`: compress it, if that is worthwhile.
  Status Add(BlockType type, std::string_view bytes, bool pack);
  // Marks the file as complete.
  Status Finish();

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

// The decoded bytes of a block; nothing if they are damaged. Thread-safe.
std::optional<std::string> BytesOf(Block& block);

class BlockReader {
 public:
  explicit BlockReader(ByteSource& source) : source_(source) {}

  Status Start();
  // The next block, or nothing at the end of the complete blocks; damage() then says whether more
  // should follow.
  Result<std::optional<Block>> Next();
  std::optional<NoteKind> damage() const { return damage_; }
  uint64_t offset() const { return offset_; }

 private:
  ByteSource& source_;
  uint64_t offset_ = 0;
  std::optional<NoteKind> damage_;
};

}  // namespace beryl::store
