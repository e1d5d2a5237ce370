// The authors' trees, one run per line: {model_name, batch_size, seq_len, frontend_tree}. Shared by
// the reader and the writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "datasets/datasets.h"
#include "datasets/note_log.h"

namespace beryl::datasets {

// The scope of the model itself in these files; all others start with it.
inline constexpr std::string_view kRootScope = "root";

// Other readers take a node without children for a primitive. A module or model without measured
// children is written as such a node, and this member has its real level.
inline constexpr char kLevelMember[] = "data_level";

// An id that is not a string, kept with the other members that have no meaning here.
inline constexpr std::string_view kIdMember = ",\"id\":";

// Limits for nesting and for the nodes of one file: far above any measured tree, far below what
// fills a machine's memory.
inline constexpr size_t kDeepestTree = 128;
inline constexpr size_t kMostNodes = 2'000'000;

struct TreeLinePlace {
  const std::string& file;  // for messages
  uint64_t line = 0;
  size_t nodes_left = kMostNodes;  // how many more it may have
};
// Reads the run of one line. Missing values go to `log`; it is an error if the line is not a tree.
Result<ModelRun> ReadTreeLine(std::string text, const TreeLinePlace& place,
                              const DatasetOptions& options, NoteLog& log);

}  // namespace beryl::datasets
