// A run compared with its budget.
#include "views/budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "views/text/text_page.h"

namespace beryl::views {
namespace {

std::string Limit(const BudgetLine& line) {
  if (line.limit_share) return FormatPercent(*line.limit_share);
  return FormatJoules(line.limit_energy) + (line.per_step ? " per step" : "");
}

std::string Value(const BudgetVerdict& verdict) {
  if (!verdict.budget.limit_share) return FormatJoules(verdict.energy);
  return verdict.share ? FormatPercent(*verdict.share) : "?";
}

std::string Words(const BudgetVerdict& verdict) {
  std::string words = verdict.reason;
  if (!verdict.nearest.empty()) {
    words += fmt::format("; near: {}", fmt::join(verdict.nearest, ", "));
  }
  return words;
}

std::string What(const BudgetLine& line) {
  const bool said = line.phase && line.pattern == PhaseName(*line.phase);
  return line.phase && !said ? fmt::format("{} {}", line.pattern, PhaseName(*line.phase))
                             : line.pattern;
}

}  // namespace

std::string BudgetTable(const std::vector<BudgetVerdict>& budget, const ViewOptions& options) {
  if (budget.empty()) return "";
  TextPage page(options);
  page.Line(page.Bold(fmt::format("{:<8}{:>10} of {:<14}{}", "budget", "took", "limit", "what")));
  for (const BudgetVerdict& verdict : budget) {
    const std::string front =
        fmt::format("{}{} of {}", Padded(verdict.passed ? "kept" : "FAILED", 8),
                    RightAligned(Value(verdict), 10), Padded(Limit(verdict.budget), 14));
    std::string line = front + Printable(What(verdict.budget));
    const std::string words = Words(verdict);
    if (!words.empty()) line += ": " + words;
    // Values may be wider than their column; blanks that align the columns stay.
    page.Line(verdict.passed ? Printable(line) : page.Styled(Printable(line), kFailureStyle));
  }
  page.Line();
  return page.Take();
}

std::string WriteBudgetKept(const std::vector<BudgetVerdict>& budget) {
  std::string text;
  for (const BudgetVerdict& verdict : budget) {
    if (!verdict.passed) continue;
    const std::string words = Words(verdict);
    text += fmt::format("budget kept: {}: took {} of {}{}\n", Printable(What(verdict.budget)),
                        Value(verdict), Limit(verdict.budget),
                        words.empty() ? "" : "; " + Printable(words));
  }
  return text;
}

std::string WriteBudgetFailures(const std::vector<BudgetVerdict>& budget) {
  std::string text;
  for (const BudgetVerdict& verdict : budget) {
    if (verdict.passed) continue;
    text += fmt::format("budget line {}: {}: took {} of {}: {}\n", verdict.budget.line,
                        Printable(What(verdict.budget)), Value(verdict), Limit(verdict.budget),
                        Printable(Words(verdict)));
  }
  return text;
}

void WriteBudget(JsonWriter& json, const std::vector<BudgetVerdict>& budget) {
  json.Objects("budget", budget, [&](const BudgetVerdict& verdict) {
    json.Member("line", verdict.budget.line).Member("pattern", verdict.budget.pattern);
    json.Key("phase").Value(verdict.budget.phase ? std::optional(PhaseName(*verdict.budget.phase))
                                                 : std::nullopt);
    json.Member("limit_j", verdict.budget.limit_energy);
    json.Member("limit_share", verdict.budget.limit_share);
    json.Member("per_step", verdict.budget.per_step).Member("energy_j", verdict.energy);
    json.Member("share", verdict.share).Member("passed", verdict.passed);
    json.Member("reason", verdict.reason).Member("matched", verdict.matched);
    json.Member("matched_total", verdict.matched_count).Member("nearest", verdict.nearest);
  });
}

}  // namespace beryl::views
