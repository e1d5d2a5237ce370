#include "flows/compare_request.h"

#include <algorithm>

#include <fmt/format.h>

#include "flows/compare_runs.h"
#include "flows/run_files.h"

namespace beryl::flows {

Result<ComparePlan> PlanComparison(const CompareRequest& request, std::string_view separator) {
  ComparePlan plan;
  plan.runs = request.operands;
  plan.sides = TRY(TakeSides(plan.runs, separator));
  if (plan.runs.size() < 2) {
    return MisuseError("compare needs two or more runs (written by beryl import) or models");
  }
  std::vector<Operand> operands;
  for (const std::string& text : plan.runs) operands.push_back(ReadOperand(text));
  const bool has_model = std::any_of(operands.begin(), operands.end(),
                                     [](const Operand& one) { return one.run.empty(); });
  plan.two = (plan.sides.empty() ? plan.runs.size() : plan.sides.size()) == 2;
  if (has_model || request.tree) {
    if (!plan.sides.empty() && has_model) {
      return MisuseError("-- separates groups of runs; here one operand is a model");
    }
    if (!plan.sides.empty()) {
      return MisuseError("a tree with columns compares single runs, not groups",
                         {"columns", "depth", "level"});
    }
    if (request.gates) {
      return MisuseError(
          "gates and pictures compare runs without a model and without a tree with columns",
          {"fail_above", "picture"});
    }
    plan.on_tree = std::move(operands);
  } else if (request.only_two && !plan.two) {
    return MisuseError("the differences need exactly two runs or two groups", {"picture"});
  }
  return plan;
}

Status LabelOperands(const std::string& given, ComparePlan& plan) {
  const auto labels = TRY(LabelRuns(plan.runs, given));
  for (size_t i = 0; i < labels.size(); ++i) plan.on_tree[i].label = labels[i];
  return {};
}

Result<std::optional<Level>> LevelOnTree(const std::string& name) {
  const auto level = ParseLevel(name);
  if (name.empty() || level) return level;
  return MisuseError(
      fmt::format("level '{}': on one tree, expected model, module, ml, math or kernel", name),
      {"level"});
}

}  // namespace beryl::flows
