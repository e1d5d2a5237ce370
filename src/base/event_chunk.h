// A piece of an event stream: its text, and the walk that finds where its events end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/event_stream.h"

namespace beryl {

inline bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Bytes with room around them for the brackets that turn them into a document, so that they are
// parsed in place.
class ChunkText {
 public:
  static constexpr size_t kFrontRoom = 16;
  static constexpr size_t kBackRoom = 8 + simdjson::SIMDJSON_PADDING;

  ChunkText() = default;
  explicit ChunkText(size_t capacity)
      : bytes_(std::make_unique_for_overwrite<char[]>(kFrontRoom + capacity + kBackRoom)),
        capacity_(capacity) {}

  char* data() { return bytes_.get() + kFrontRoom; }
  std::string_view view() const { return {bytes_.get() + kFrontRoom, size_}; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  void set_size(size_t size) { size_ = size; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

struct Chunk {
  uint64_t sequence = 0;
  uint64_t offset = 0;  // of the text in the file
  ChunkText text;
  bool first = false;
  bool last = false;
  int worker = 0;
};

enum class Outcome {
  kWhole,     // every event was complete; more may follow
  kBroken,    // the walk stopped at `stop`
  kClosed,    // the events array ended at `stop`, inside the chunk
  kNoEvents,  // the outer object has no events so far
};

struct ChunkResult {
  Outcome outcome = Outcome::kWhole;
  size_t stop = 0;  // offset in the chunk's text
  uint64_t replaced_bytes = 0;
  uint64_t first_replaced = 0;
  std::unique_ptr<EventBatch> batch;
};

// Turns a chunk into a document and walks it.
class ChunkParser {
 public:
  explicit ChunkParser(std::unique_ptr<EventVisitor> visitor) : visitor_(std::move(visitor)) {}

  // Leaves the chunk's text as it was, except for replaced invalid bytes.
  ChunkResult Parse(Chunk& chunk, bool bare_array);

 private:
  simdjson::error_code Open(std::string_view back);
  // Offset in the chunk's text of a place in the document.
  size_t TextOffset(const char* place) const;
  void Walk(ChunkResult& result);
  void WalkArray(simdjson::ondemand::array& array, ChunkResult& result);
  // Visitors walk objects and thereby check that they are complete; they do not look into other
  // values.
  bool IsWholeOrObject(simdjson::ondemand::value& value) const;
  const char* TextEnd() const { return document_ + front_size_ + text_.size(); }

  std::unique_ptr<EventVisitor> visitor_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document walked_;
  char* document_ = nullptr;
  std::string_view text_;
  size_t text_start_ = 0;
  size_t front_size_ = 0;
  uint64_t file_offset_ = 0;
  bool bare_array_ = false;
};

}  // namespace beryl
