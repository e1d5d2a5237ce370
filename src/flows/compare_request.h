// Which comparison a user asks for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flows/side_by_side.h"
#include "types/model_tree.h"

namespace beryl::flows {

struct CompareRequest {
  std::vector<std::string> operands;  // runs, or models as for ReadOperand, and separators
  bool tree = false;                  // a tree with columns was asked for,
  bool gates = false;                 // or gates, or a picture: of runs on no tree
  bool only_two = false;              // or what there is only of two sides
};

struct ComparePlan {
  std::vector<std::string> runs;  // without separators
  std::vector<size_t> sides;      // as of TakeSides
  std::vector<Operand> on_tree;   // what is put on one tree; empty: the runs are compared by names
  bool two = false;               // two runs, or two sides
};
// It is a misuse error if what was asked for cannot be compared, or not in that way.
Result<ComparePlan> PlanComparison(const CompareRequest& request, std::string_view separator);

// Labels what is put on one tree, as LabelRuns does.
Status LabelOperands(const std::string& labels, ComparePlan& plan);
// The deepest level of one tree to show, by its name; empty: all.
Result<std::optional<Level>> LevelOnTree(const std::string& name);

}  // namespace beryl::flows
