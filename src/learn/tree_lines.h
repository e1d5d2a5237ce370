// The authors' trees, a run a line: {model_name, batch_size, seq_len, frontend_tree}. What reading
// and writing share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "learn/learn.h"
#include "learn/note_log.h"

namespace beryl::learn {

// The scope of the model itself in these files; all others start with it.
inline constexpr std::string_view kRootScope = "root";

// Their readers take a node without children for a primitive. A module or model of which no child
// was measured is written as one, and says here what it is.
inline constexpr char kLevelMember[] = "data_level";

// Of an id that is no string; it is kept among the members that mean nothing here.
inline constexpr std::string_view kIdMember = ",\"id\":";

// Nodes below one another, and in one file: far above all that is measured, far below what a
// machine cannot hold.
inline constexpr size_t kDeepestTree = 128;
inline constexpr size_t kMostNodes = 2'000'000;

struct TreeLinePlace {
  const std::string& file;  // for messages
  uint64_t line = 0;
  size_t nodes_left = kMostNodes;  // how many it may have
};
// The run of one line. What is missing in it goes to `log`; an Error if it is not a tree.
Result<ModelRun> ReadTreeLine(std::string text, const TreeLinePlace& place,
                              const DatasetOptions& options, NoteLog& log);

}  // namespace beryl::learn
