#include "flows/library_compare.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "flows/compare_runs.h"
#include "flows/library_run.h"
#include "flows/side_by_side.h"

namespace beryl::flows {
namespace {

// "NAME@PROFILE", or a run by its id.
Result<Operand> OperandOf(store::Library& library, const std::string& text,
                          const RunOptions& options) {
  Operand operand;
  if (IsLibraryId(text)) {
    auto entry = library.Get(text);
    if (entry && entry->kind != EntryKind::kRun) {
      return MisuseError(fmt::format("'{}' is a {}, not a run", text, EntryKindName(entry->kind)),
                         {"of"});
    }
    if (entry) {
      operand.label = entry->name;
      operand.run = NameOfFiles(*entry);
      operand.read = [&library, run = *std::move(entry), &options] {
        return ReadLibraryRun(library, run, options);
      };
      return operand;
    }
    // Names of models may look like ids.
    if (entry.error().code != ErrorCode::kNotFound) return std::move(entry).error();
  }
  const size_t at = text.rfind('@');
  operand.model = text.substr(0, at);
  if (at != std::string::npos) operand.profile = text.substr(at + 1);
  operand.label = text;
  if (auto config = models::FindConfig(operand.model); !config) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("'{}' is neither a run in the library nor a model: {}",
                             Printable(text), config.error().message),
                 {"of"}};
  }
  return operand;
}

// Equal names are told apart by their ids.
void TellApart(std::vector<Operand>& operands, const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const Operand& operand : operands) names.push_back(operand.label);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (std::count(names.begin(), names.end(), names[i]) < 2) continue;
    operands[i].label = fmt::format("{} ({})", names[i], texts[i]);
  }
}

}  // namespace

Result<std::variant<Comparison, SideBySide>> CompareInLibrary(
    store::Library& library, const LibraryCompareRequest& request) {
  const RunOptions options = TRY(RunOptionsOf(request.run));
  std::vector<Operand> operands;
  std::vector<std::string> texts;
  std::vector<size_t> sizes;
  for (const auto& side : request.sides) {
    if (side.empty()) return MisuseError("a side has no runs", {"of"});
    sizes.push_back(side.size());
    for (const std::string& text : side) {
      texts.push_back(text);
      operands.push_back(TRY(OperandOf(library, text, options)));
    }
  }
  if (operands.size() < 2) {
    return MisuseError("a comparison needs two or more runs or models", {"of"});
  }
  TellApart(operands, texts);
  const bool has_groups = operands.size() > sizes.size();
  const bool on_tree = request.on_tree || std::any_of(operands.begin(), operands.end(),
                                                      [](auto& one) { return one.run.empty(); });
  if (on_tree && has_groups) {
    return MisuseError("on one tree, single runs and models are compared, not groups", {"of"});
  }
  if (!request.labels.empty() && request.labels.size() != sizes.size()) {
    return MisuseError(fmt::format("{} labels for {} sides", request.labels.size(), sizes.size()),
                       {"labels"});
  }
  if (on_tree) {
    for (size_t i = 0; i < request.labels.size(); ++i) operands[i].label = request.labels[i];
    SideBySideOptions side_by_side;
    side_by_side.run = options;
    side_by_side.describe = TRY(DescribeOptionsOf(request.model));
    side_by_side.given = GivenBy(request.model);
    side_by_side.columns = request.columns;
    side_by_side.only_names = true;
    return std::variant<Comparison, SideBySide>(TRY(CompareWithModels(operands, side_by_side)));
  }
  auto compare = TRY(CompareOptionsOf(request.level, {}, request.false_discovery));
  CompareLabels labels;
  std::vector<NamedRun> runs;
  for (const Operand& operand : operands) {
    labels.runs.push_back(operand.label);
    runs.push_back({operand.run, operand.read});
  }
  if (has_groups) {
    compare.sides = sizes;
    labels.sides = request.labels;
  } else if (!request.labels.empty()) {
    labels.runs = request.labels;
  }
  return std::variant<Comparison, SideBySide>(
      TRY(CompareNamedRuns(runs, labels, options, std::move(compare))));
}

}  // namespace beryl::flows
