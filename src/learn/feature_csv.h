// The CSV files that IrEne's authors published: a row for each node of each run, its features, its
// energy, and where in the model it stands as "scope:Type".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/learn.h"
#include "learn/note_log.h"
#include "learn/scope_tree.h"

namespace beryl::learn {

struct FeatureCsv {
  std::string name;  // for messages
  std::string text;
  RowKind kind = RowKind::kPrimitive;  // of rows, where the file has no column `level`
};

// What the rows of a file are, by its name ("ml2_level_features.csv").
RowKind KindOfFile(std::string_view file_name);

// From texts of files to trees. Fails where a column is missing, or no row can be used. Quoted
// fields are unquoted in place.
Result<Dataset> ReadFeatureCsvs(std::vector<FeatureCsv>& files, std::string name,
                                const DatasetOptions& options, NoteLog& log);

}  // namespace beryl::learn
