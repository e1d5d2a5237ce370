// The CSV files that IrEne's authors published: one row for each node of each run, with its
// features, its energy, and its position in the model as "scope:Type".
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "datasets/datasets.h"
#include "datasets/note_log.h"
#include "datasets/scope_tree.h"

namespace beryl::datasets {

struct FeatureCsv {
  std::string name;  // for messages
  std::string text;
  RowKind kind = RowKind::kPrimitive;  // of the rows, if the file has no column `level`
};

// The kind of rows in a file, from its name ("ml2_level_features.csv").
RowKind KindOfFile(std::string_view file_name);

// Builds trees from the texts of files. Fails if a column is missing or no row can be used.
// Unquotes quoted fields in place.
Result<Dataset> ReadFeatureCsvs(std::vector<FeatureCsv>& files, std::string name,
                                const DatasetOptions& options, NoteLog& log);

}  // namespace beryl::datasets
