// Reads and writes measured features: CSV folders, trees as JSON lines, accounted runs, and the
// small tables that analyses need with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "types/column.h"
#include "types/dataset.h"
#include "types/energy_use.h"
#include "types/note.h"

namespace beryl::datasets {

// Reads a data set: a folder with IrEne's ml1_level_features.csv, ml2_..., module_... and
// model_level_features.csv, one such CSV, or the authors' trees as JSON lines (recognised by
// content, not by name). Trees are rebuilt from scopes. Unusable rows (text for a number, NaN,
// energy that is not positive, a duplicate) are left out and listed in Dataset::notes. A missing
// column or an unknown kind of file is an error. Without `needs_energy`, rows may lack energy.
struct DatasetOptions {
  bool needs_energy = true;
};
Result<Dataset> ReadDataset(const std::string& path, const DatasetOptions& options);
// The same for JSON lines in memory.
Result<Dataset> ReadTrees(ByteSource& source, const DatasetOptions& options);

// An accounted run as training data: operations, and modules with everything inside them. `energy`
// has the columns of its tree, `seconds` is a column of wall time (account::ShareTime). GPU and CPU
// channels become features of the law; the target is the sum of all channels.
ModelRun RunOfAccounting(std::string model, const ModelTree& tree,
                         const std::vector<Column>& energy, const Column& seconds);

// Writes the authors' JSON lines, one run per line. `predicted` has joules by run and node, or is
// empty. NaN is left out, and so are runs without a model row.
std::string WriteTrees(const Dataset& data, const std::vector<Column>& predicted);

// The table of prices and emissions that ships with the program, and a reader for any such table.
std::string_view BundledElectricity();
Result<std::vector<Electricity>> ReadElectricity(std::string_view text, const std::string& name,
                                                 std::vector<Note>& notes);

// A CSV with the columns model and accuracy, and optionally label.
Result<std::vector<ModelAccuracy>> ReadAccuracies(std::string_view text, const std::string& name,
                                                  std::vector<Note>& notes);

}  // namespace beryl::datasets
