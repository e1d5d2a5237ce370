// The events of a trace in Chrome's JSON form, walked in bounded memory on several threads.
//
// A trace is `{ ..., "traceEvents": [ {event}, {event}, ... ], ... }` or the bare array. Its text
// may be larger than memory, so it is cut into chunks, each parsed as a small
// document of its own.
//
// Where to cut is guessed (between a `}` and a `{`) and then proven: a chunk whose last event turns
// out not to be whole is joined with the next one and parsed again. So the result never depends on
// the guess, and workers can parse chunks before it is known that the one before them was cut
// right. Results are handed over in the order of the file whatever the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace beryl {

// What one visitor made of one chunk. Each importer derives its own.
struct EventBatch {
  virtual ~EventBatch() = default;
};

// Sees the events of one chunk after the other; each worker thread has its own visitor.
class EventVisitor {
 public:
  virtual ~EventVisitor() = default;
  // An element of the events array at byte `offset` of the (decompressed) text. Has to walk the
  // whole object and return whether that walk succeeded; if not, it must leave no trace in the
  // batch.
  virtual bool Event(json::Value event, uint64_t offset) = 0;
  // A member of the outer object other than the events.
  virtual void Member(json::Key key, json::Value value) = 0;
  // Hands over what was collected since the last call.
  virtual std::unique_ptr<EventBatch> Take() = 0;
};

struct EventStreamEnd {
  uint64_t bytes = 0;           // of decompressed text
  bool truncated = false;       // the text ended early; everything before `broke_at` was used
  uint64_t broke_at = 0;        // where the first event starts that is not whole
  std::string why;              // what was expected there
  uint64_t replaced_bytes = 0;  // invalid UTF-8 and control characters made harmless
  uint64_t first_replaced = 0;
};

struct EventStreamOptions {
  int threads = 1;
  size_t chunk_bytes = size_t{1} << 17;  // text and index of a chunk stay in the core's own cache
  // Told the bytes of the file read so far, now and then, from any worker but never from two at
  // once.
  std::function<void(uint64_t)> progress;
};

// Walks `source` to its end. `make_visitor` is called once a worker, with the worker's number.
//
// `commit` gets every batch in file order, one call at a time, with the number of the worker that
// made it; `keep` is false for a batch whose events must not be used (its chunk was joined with
// another and parsed again), so that state a worker carries from batch to batch, such as a string
// table, can still be followed.
//
// Text that is not JSON is an Error with the byte offset and what was expected there; text that
// only stops too early is not: what came before is used and the result says where it broke.
using MakeVisitor = std::function<std::unique_ptr<EventVisitor>(int worker)>;
using CommitBatch = std::function<void(std::unique_ptr<EventBatch>, int worker, bool keep)>;
Result<EventStreamEnd> WalkEvents(ByteSource& source, const EventStreamOptions& options,
                                  const MakeVisitor& make_visitor, const CommitBatch& commit);

}  // namespace beryl
