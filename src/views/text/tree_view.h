// Writes a tree and its columns in every format. Names and units come from the columns; no column
// is special.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "types/column.h"
#include "views/text/csv_table.h"
#include "views/views.h"

namespace beryl::views {

// The requested columns, or all if none are requested. "phases", "devices" and "ranks" name the
// parts; a quantity that no column is named after ("energy") names all columns of it.
std::vector<const Column*> ChosenColumns(const TreeColumns& tree,
                                         const std::vector<std::string>& names);
// What is written of columns: a list of numbers by node, and what it is called in JSON and CSV.
struct TreeField {
  std::string key;
  const Column* column = nullptr;
  const std::vector<double>* values = nullptr;
};
std::vector<TreeField> FieldsOf(const std::vector<const Column*>& columns);
// The columns that mark nodes, with the keys of their marks.
std::vector<std::pair<std::string, const Column*>> MarksOf(
    const std::vector<const Column*>& columns);
// Whether a node's level is at most this one, or that of something below it is: a checkpoint is an
// operation that calls modules.
bool IsUpTo(Level level, const ModelTree& tree, NodeId node);
// Whether the chosen depth and level let a node be shown.
bool IsShown(const ModelTree& tree, NodeId node, const ViewOptions& options);

// A value in a table: "12.3 J", "22.4 G", "1.02"; "?" if it is unknown, "-" where a count or a
// quotient does not apply.
std::string Figure(double value, Quantity quantity);
// "measured"; "predicted by gtx1080ti".
std::string OriginText(const Column& column);

// beryl.tree/1: the root node with "schema" and "columns", its children below it. A column's total
// goes by its key; columns of parts go into objects "phases", "devices" and "ranks", by label.
// `also`, if it is given, is a second name for the first column's total.
void WriteTree(JsonWriter& json, const TreeColumns& tree, const ViewOptions& options,
               std::string_view also = {});

// One line per node. Every line starts with the fields `before` and ends with `behind`. `csv` must
// be empty.
using NamedFields = std::vector<std::pair<std::string, std::string>>;
std::string TreeCsv(const TreeColumns& tree, const ViewOptions& options, const NamedFields& before,
                    const NamedFields& behind, CsvTable csv);
// Its parts, for several trees with the same columns in one CSV: the names of a tree's own fields,
// and its lines.
void AddTreeNames(const TreeColumns& tree, const ViewOptions& options, CsvTable& csv);
void AddTreeRows(const TreeColumns& tree, const ViewOptions& options, const NamedFields& before,
                 const NamedFields& behind, CsvTable& csv);

// How a table shows a tree.
struct TableLook {
  std::string title;                 // above the names
  std::vector<std::string> columns;  // by name, unless the user chose some
  std::vector<std::string> more;     // the same, where there is room
  std::vector<std::string> texts;    // by key, where there is room
  // Sorts by the first column and combines small nodes in one line; otherwise all nodes are in the
  // order of the program.
  bool sorted = false;
  Level deepest = Level::kKernel;  // unless the user chose one
  int depth = 1000;                // the same
};
// `tree` is folded already. Ends with what is left out, and what marks mean.
std::string TreeTable(const TreeColumns& tree, const TableLook& look, const ViewOptions& options);

}  // namespace beryl::views
