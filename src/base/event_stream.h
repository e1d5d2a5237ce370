// Walks the events of a trace in Chrome's JSON format, in bounded memory and on several threads.
//
// A trace is `{ ..., "traceEvents": [ {event}, {event}, ... ], ... }` or the bare array. Its text
// may be larger than memory, so it is cut into chunks, each parsed as a small
// document of its own.
//
// The cuts are guessed (between a `}` and a `{`) and then verified: if the last event of a chunk is
// incomplete, the chunk is joined with the next one and parsed again. The result therefore does not
// depend on the guess, and workers can parse chunks before the previous cut is known to be right.
// Results arrive in file order, whatever the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace beryl {

// What a visitor collected from one chunk. Each importer derives its own.
struct EventBatch {
  virtual ~EventBatch() = default;
};

// Receives the events of one chunk after another; each worker thread has its own visitor.
class EventVisitor {
 public:
  virtual ~EventVisitor() = default;
  // An element of the events array at byte `offset` of the (decompressed) text. Must walk the whole
  // object and return whether that succeeded; if not, it must leave no trace in the batch.
  virtual bool Event(json::Value event, uint64_t offset) = 0;
  // A member of the outer object other than the events.
  virtual void Member(json::Key key, json::Value value) = 0;
  // Hands over what was collected since the last call.
  virtual std::unique_ptr<EventBatch> Take() = 0;
};

struct EventStreamEnd {
  uint64_t bytes = 0;           // of decompressed text
  bool truncated = false;       // the text ended early; everything before `broke_at` was used
  uint64_t broke_at = 0;        // where the first incomplete event starts
  std::string why;              // what was expected there
  uint64_t replaced_bytes = 0;  // invalid UTF-8 and control characters that were replaced
  uint64_t first_replaced = 0;
};

struct EventStreamOptions {
  int threads = 1;
  size_t chunk_bytes = size_t{1} << 17;  // text and index of a chunk fit in a core's own cache
  // Called now and then with the bytes of the file read so far, from any worker but never
  // concurrently.
  std::function<void(uint64_t)> progress;
};

// Walks `source` to its end. Calls `make_visitor` once per worker, with the worker's number.
//
// Calls `commit` for every batch in file order, one call at a time, with the number of the worker
// that made it. `keep` is false for a batch whose events must not be used (its chunk was joined
// with another and parsed again); it is passed on because workers carry state, such as a string
// table, from batch to batch.
//
// Text that is not JSON is an Error with the byte offset and what was expected there. Text that
// merely stops too early is not an Error: the events before the end are used, and the result says
// where the text broke.
using MakeVisitor = std::function<std::unique_ptr<EventVisitor>(int worker)>;
using CommitBatch = std::function<void(std::unique_ptr<EventBatch>, int worker, bool keep)>;
Result<EventStreamEnd> WalkEvents(ByteSource& source, const EventStreamOptions& options,
                                  const MakeVisitor& make_visitor, const CommitBatch& commit);

}  // namespace beryl
