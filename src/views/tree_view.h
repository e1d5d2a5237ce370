// A tree and the columns beside it, in each format: the one place that writes them. None of these
// knows which column is which; what a column is called and measured in stands in the column.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "types/column.h"
#include "views/csv_table.h"
#include "views/views.h"

namespace beryl::views {

// The columns that were asked for by name ("phases", "devices" and "ranks" name the parts); all of
// them where nothing was.
std::vector<const Column*> ChosenColumns(const TreeColumns& tree,
                                         const std::vector<std::string>& names);
// What is written of columns: a list of numbers by node, and what it is called in JSON and CSV.
struct TreeField {
  std::string key;
  const Column* column = nullptr;
  const std::vector<double>* values = nullptr;
};
std::vector<TreeField> FieldsOf(const std::vector<const Column*>& columns);
// Whether --depth and --level let a node be shown.
bool IsShown(const TreeNode& node, const ViewOptions& options);

// A number of a column as people read it: "12.3 J", "22.4 G", "1.02". "?" where it is not known,
// "-" where a count or a quotient does not apply.
std::string Figure(double value, Quantity quantity);
// "measured"; "predicted by gtx1080ti".
std::string OriginText(const Column& column);

// beryl.tree/1: the root node with "schema" and "columns", its children below it. A column's total
// goes by its key; columns of parts go into objects "phases", "devices" and "ranks", by label.
// `also`, if it is given, is a second name for the first column's total.
void WriteTree(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
               std::string_view also = {});

// A line for each node. `before` and `behind` are fields that all lines have: a name and its value.
// `csv` is still empty.
using CsvFields = std::vector<std::pair<std::string, std::string>>;
std::string TreeCsv(const TreeColumns& tree, const ViewOptions& options, const CsvFields& before,
                    const CsvFields& behind, CsvTable csv);

// How a table shows a tree.
struct TableLook {
  std::string title;                 // above the names
  std::vector<std::string> columns;  // by name, unless the user chose some
  std::vector<std::string> more;     // the same, where there is room
  std::vector<std::string> texts;    // by key, where there is room
  // The first column decides: the largest part first, small ones gathered in a line. Else all stand
  // in the order of the program.
  bool sorted = false;
  Level deepest = Level::kKernel;  // unless the user chose one
  int depth = 1000;                // the same
};
// `tree` is folded already. Ends with what is left out, and what marks mean.
std::string TreeTable(const TreeColumns& tree, const TableLook& look, const ViewOptions& options);

}  // namespace beryl::views
