#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyze/analyze.h"
#include "analyze/figures.h"
#include "base/text.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

constexpr size_t kNearest = 3;

constexpr size_t kLargestFile = size_t{1} << 20;
constexpr size_t kMostPaths = 20;
constexpr std::string_view kExpected =
    "expected PATTERN [forward|backward|optimizer] LIMIT, or only the phase and its LIMIT, with a "
    "LIMIT such as 12 J, 3.5 kJ, 40 mJ "
    "per step, or 25%";

struct Unit {
  std::string_view name;
  double joules;
};
constexpr std::array<Unit, 7> kUnits = {
    {{"uJ", 1e-6}, {"mJ", 1e-3}, {"J", 1}, {"kJ", 1e3}, {"MJ", 1e6}, {"Wh", 3600}, {"kWh", 3.6e6}}};

// Removes the first word from `text` and returns it. A word in double quotes may contain blanks.
// "\0" is never a word, which distinguishes an unclosed quote from an empty word.
std::optional<std::string_view> TakeWord(std::string_view& text) {
  text = Trim(text);
  const bool quoted = text.starts_with('"');
  if (quoted) text.remove_prefix(1);
  const size_t end = quoted ? text.find('"') : std::min(text.find_first_of(" \t"), text.size());
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + (quoted ? 1 : 0)));
  text = Trim(text);
  return word;
}

std::optional<Phase> TakePhase(std::string_view& text) {
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) {
    std::string_view rest = text;
    if (TakeWord(rest) != PhaseName(phase)) continue;
    text = rest;
    return phase;
  }
  return std::nullopt;
}

// Removes "per step" from the end of `text`.
bool TakePerStep(std::string_view& text) {
  std::string_view rest = text;
  if (!rest.ends_with("step")) return false;
  rest = Trim(rest.substr(0, rest.size() - 4));
  if (!rest.ends_with("per")) return false;
  text = Trim(rest.substr(0, rest.size() - 3));
  return true;
}

// Reads a limit into a line; returns what is wrong with it, or an empty string.
std::string ReadLimit(std::string_view text, BudgetLine& line) {
  if (text.empty()) return "the limit is missing";
  line.per_step = TakePerStep(text);
  if (text.ends_with('%')) {
    if (line.per_step) return "a share is the same per step and for the run: leave out 'per step'";
    line.limit_share = ParseShare(text);
    return line.limit_share ? "" : fmt::format("'{}' is not a share", text);
  }
  const size_t letters = text.find_last_of("0123456789. \t");
  const std::string_view unit = letters == std::string_view::npos ? text : text.substr(letters + 1);
  const auto number = ParseNumber(text.substr(0, text.size() - unit.size()));
  if (!number) return fmt::format("'{}' is not a limit", text);
  if (*number < 0) return fmt::format("'{}' is below zero", text);
  if (unit.empty()) return fmt::format("'{}' has no unit: J, mJ, kJ or %", text);
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    line.limit_energy = Joules{*number * known.joules};
    return std::isfinite(line.limit_energy->value) ? "" : fmt::format("'{}' is too large", text);
  }
  return fmt::format("'{}' is not a unit of energy: J, mJ, kJ or %", unit);
}

// Reads a line; returns what is wrong with it, or an empty string.
std::string ReadLine(std::string_view text, BudgetLine& line) {
  const bool quoted = text.starts_with('"');
  const auto pattern = TakeWord(text);
  if (!pattern) return "a quote is not closed";
  if (pattern->empty()) return "the pattern is empty";
  line.pattern = *pattern;
  line.whole_run = !quoted && *pattern == "total";
  if (std::string_view word = *pattern; !quoted && (line.phase = TakePhase(word))) {
    line.whole_run = true;  // `optimizer 30%`: all of that phase
  } else {
    line.phase = TakePhase(text);
  }
  return ReadLimit(text, line);
}

// A # starts a comment only at the start of a word, so that names may contain a #.
std::string_view WithoutComment(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    const bool at_word = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t';
    if (text[i] == '#' && at_word && !quoted) return text.substr(0, i);
  }
  return text;
}

class Checker {
 public:
  Checker(const OpTrace& trace, const Footprint& footprint, const TraceTree& built,
          const TraceTree& folded)
      : trace_(trace), footprint_(footprint), built_(built), folded_(folded) {
    all_ = Sum([](uint32_t) { return true; }, false).front();
  }

  BudgetVerdict Check(const BudgetLine& line) const {
    BudgetVerdict verdict;
    verdict.budget = line;
    std::vector<bool> met(trace_.kinds.size(), true);
    if (!line.whole_run) Match(line, met, verdict);
    if (!line.whole_run && verdict.matched.empty()) {
      verdict.nearest = NearPaths(folded_.tree, line.pattern, kNearest);
      verdict.reason = "no path matches the pattern";
      return verdict;
    }
    auto wanted = [&](uint32_t kind) {
      return met[kind] && (!line.phase || trace_.kinds[kind].phase == *line.phase);
    };
    if (line.per_step && KnownSteps(footprint_).empty()) {
      verdict.reason = "the limit is per step, but the trace has no steps";
      return verdict;
    }
    Judge(wanted, verdict);
    return verdict;
  }

 private:
  template <typename Wanted>
  std::vector<RowFigures> Sum(const Wanted& wanted, bool per_step) const {
    RowsOfKind rows(trace_.kinds.size());
    for (uint32_t kind = 0; kind < rows.size(); ++kind) {
      if (wanted(kind)) rows[kind].push_back(0);
    }
    return Figures(footprint_, rows, 1, per_step);
  }

  void Match(const BudgetLine& line, std::vector<bool>& met, BudgetVerdict& verdict) const {
    const PathPattern pattern(line.pattern);
    const std::vector<bool> in_built = NodesMet(pattern, built_.tree);
    const std::vector<bool> in_folded = NodesMet(pattern, folded_.tree);
    for (size_t kind = 0; kind < met.size(); ++kind) {
      met[kind] = in_built[built_.node_of_kind[kind]] || in_folded[folded_.node_of_kind[kind]];
    }
    // Paths as shown in the tree, unless only the program's own names match.
    verdict.matched = PathsMet(pattern, folded_.tree);
    if (verdict.matched.empty()) verdict.matched = PathsMet(pattern, built_.tree);
    verdict.matched_count = verdict.matched.size();
    verdict.matched.resize(std::min(verdict.matched.size(), kMostPaths));
  }

  template <typename Wanted>
  void Judge(const Wanted& wanted, BudgetVerdict& verdict) const {
    const BudgetLine& line = verdict.budget;
    const RowFigures figures = Sum(wanted, line.per_step).front();
    if (!figures.present) {
      verdict.reason = line.whole_run && !line.phase ? "the run has no operations"
                                                     : "nothing of it ran in that phase or step";
      return;
    }
    if (!figures.known) {
      verdict.reason = "its energy is unknown: no power was read where it ran";
      return;
    }
    verdict.energy = figures.energy;
    const Joules whole = line.per_step
                             ? all_.energy / static_cast<double>(KnownSteps(footprint_).size())
                             : all_.energy;
    if (all_.known && whole > Joules{}) verdict.share = figures.energy / whole;
    // Joules or a share, like the limit.
    const auto value = line.limit_energy ? std::optional(figures.energy.value) : verdict.share;
    const double limit =
        line.limit_energy ? line.limit_energy->value : line.limit_share.value_or(0);
    if (!value || !std::isfinite(*value)) {
      verdict.reason = "its share is unknown: the run has no energy";
      return;
    }
    verdict.passed = *value <= limit;
    if (!verdict.passed) {
      verdict.reason = line.limit_energy
                           ? fmt::format("{} over", FormatJoules(*value - limit))
                           : fmt::format("{} of the run over", FormatPercent(*value - limit));
      return;
    }
    // A limit that is kept only because readings are missing is not kept.
    const Missing missing = TimeWithout(wanted);
    if (missing.uncovered > kMostUncovered) {
      verdict.passed = false;
      verdict.reason = fmt::format("unknown: {} of its time has no power reading",
                                   FormatPercent(missing.uncovered));
    } else if (missing.unmetered > kMostUncovered) {
      verdict.reason = fmt::format("without the {} of its time that ran on devices without a meter",
                                   FormatPercent(missing.unmetered));
    }
  }

  // Shares of the operation time with unknown power: of devices with a meter, and of all devices.
  struct Missing {
    double uncovered = 0;
    double unmetered = 0;
  };
  template <typename Wanted>
  Missing TimeWithout(const Wanted& wanted) const {
    double known = 0;
    double uncovered = 0;
    double unmetered = 0;
    for (const EnergyShare& share : footprint_.shares) {
      if (!wanted(share.kind)) continue;
      known += share.busy.seconds();
      uncovered += share.unknown.seconds();
    }
    for (const UnmeteredOps& ops : footprint_.unmetered) {
      if (wanted(ops.kind)) unmetered += ops.busy.seconds();
    }
    Missing missing;
    if (known + uncovered > 0) missing.uncovered = uncovered / (known + uncovered);
    const double all = known + uncovered + unmetered;
    if (all > 0) missing.unmetered = unmetered / all;
    return missing;
  }

  const OpTrace& trace_;
  const Footprint& footprint_;
  const TraceTree& built_;
  const TraceTree& folded_;
  RowFigures all_;
};

}  // namespace

std::optional<double> ParseShare(std::string_view text) {
  text = Trim(text);
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = ParseNumber(text);
  if (!number || *number < 0 || (!percent && *number >= 1)) return std::nullopt;
  return percent ? *number / 100 : *number;
}

Result<GateLimit> ParseGate(std::string_view text) {
  GateLimit gate;
  const size_t equals = text.rfind('=');
  std::string_view limit = text;
  if (equals != std::string_view::npos) {
    gate.pattern = Trim(text.substr(0, equals));
    limit = text.substr(equals + 1);
  }
  const auto share = ParseShare(limit);
  if (!share || (equals != std::string_view::npos && gate.pattern.empty())) {
    return MisuseError(
        fmt::format("limit '{}': expected a share such as 5% or 0.05, or PATTERN=5%", text),
        {"fail_above"});
  }
  gate.limit = *share;
  return gate;
}

Result<std::vector<BudgetLine>> ReadBudget(ByteSource& source) {
  auto text = TRY(ReadAll(source, kLargestFile));
  std::vector<BudgetLine> lines;
  uint64_t number = 0;
  for (const std::string_view whole : Split(text, '\n')) {
    ++number;
    const std::string_view content = Trim(WithoutComment(whole));
    if (content.empty()) continue;
    BudgetLine line;
    line.line = number;
    line.text = Printable(content);
    if (const std::string wrong = ReadLine(content, line); !wrong.empty()) {
      return InvalidError(fmt::format("{}: line {}: {}: '{}'; {}", source.name(), number, wrong,
                                      Ellipsize(line.text, 60), kExpected));
    }
    lines.push_back(std::move(line));
  }
  if (lines.empty()) {
    return InvalidError(fmt::format("{}: the budget sets no limit; {}", source.name(), kExpected));
  }
  return lines;
}

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget, const OpTrace& trace,
                                       const Footprint& footprint, const TraceTree& built,
                                       const TraceTree& folded) {
  const Checker checker(trace, footprint, built, folded);
  std::vector<BudgetVerdict> verdicts;
  verdicts.reserve(budget.size());
  for (const BudgetLine& line : budget) verdicts.push_back(checker.Check(line));
  return verdicts;
}

}  // namespace beryl::analyze
