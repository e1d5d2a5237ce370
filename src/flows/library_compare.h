// Compares what is in a library, beside models that were never run.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "flows/model_request.h"
#include "flows/run_request.h"
#include "store/library.h"
#include "types/comparison.h"
#include "types/side_by_side.h"

namespace beryl::flows {

struct LibraryCompareRequest {
  // Each a side: ids of runs, or the name of a model, NAME or NAME@PROFILE. Sides that have one
  // member are compared as single runs.
  std::vector<std::vector<std::string>> sides;
  std::vector<std::string> labels;  // of the sides; empty: the names of the entries
  std::string level;                // as for CompareOptionsOf, or a level of the tree
  std::string false_discovery = "5%";
  std::vector<std::string> columns;  // of a tree
  bool on_tree = false;              // also runs alone
  RunRequest run;
  ModelRequest model;  // the input of the models, if no run shows it
};

// On one tree if there is a model, or a tree was asked for.
Result<std::variant<Comparison, SideBySide>> CompareInLibrary(store::Library& library,
                                                              const LibraryCompareRequest& request);

}  // namespace beryl::flows
