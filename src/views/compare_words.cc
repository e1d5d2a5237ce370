// What a comparison says in sentences: its verdicts and its gates.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "views/compare.h"
#include "views/text/figures.h"
#include "views/text/notes.h"

namespace beryl::views {
namespace {

// "2.1% less", "384 times more"
std::string MoreOrLess(double share) {
  return ShareText(std::fabs(share)) + (share < 0 ? " less" : " more");
}

// "0.4% and 3.9% less", "0.4% less and 1.2% more"; the number nearer to zero first if both are on
// its same side.
std::string Range(double low, double high) {
  if (low < 0 && high > 0) return MoreOrLess(low) + " and " + MoreOrLess(high);
  const double near = low < 0 ? high : low;
  const double far = low < 0 ? low : high;
  return ShareText(std::fabs(near)) + " and " + MoreOrLess(far);
}

std::string MoreRunsWords(const std::optional<uint64_t>& runs, VariationUnit unit,
                          std::string_view what) {
  const std::string_view one = unit == VariationUnit::kRounds ? "recording" : "run";
  if (!runs) return fmt::format("over 1,000 more {}s of each would {}", one, what);
  return fmt::format("{} more {}{} of each would {}", FormatCount(*runs), one,
                     *runs == 1 ? "" : "s", what);
}

}  // namespace

std::string ShareText(double share) {
  constexpr double kManyTimes = 10;
  return std::isfinite(share) && share >= kManyTimes ? FormatFixed(share, 0) + " times"
                                                     : FormatPercent(share);
}

std::string SignedShare(double share) { return (share > 0 ? "+" : "") + ShareText(share); }

std::string BasisWords(const Comparison& comparison) {
  if (comparison.of == ComparedEnergy::kOurs) return "energy that the watched processes used";
  if (comparison.of == ComparedEnergy::kMachine) return "energy of the machine";
  return comparison.per_step ? "energy per step, mean over the steps of each run"
                             : "energy of the whole run";
}

std::string VerdictLine(const TotalVerdict& verdict) {
  const std::string after = Printable(verdict.after);
  if (verdict.reason) return fmt::format("{}: cannot tell: {}", after, NoteWords(*verdict.reason));
  const EnergyChange& change = verdict.change;
  if (!change.change || !change.low) return after + ": cannot tell: there is no energy to compare";
  const std::string said = fmt::format("{} than {}, 95 % between {}", MoreOrLess(*change.change),
                                       Printable(verdict.before), Range(*change.low, *change.high));
  if (verdict.certain) return fmt::format("{}: {}; certain", after, said);
  return fmt::format("{}: cannot tell: {}; {}", after, said,
                     MoreRunsWords(verdict.more_runs, change.unit, "tell"));
}

std::string HowItIsKnown(const Comparison& comparison, const TotalVerdict& verdict) {
  const auto runs = [&](size_t side) {
    return side < comparison.sides.size() ? comparison.sides[side].runs.size() : 0;
  };
  switch (verdict.change.unit) {
    case VariationUnit::kRuns:
      return fmt::format("from how {} and {} runs vary", runs(0), runs(1));
    case VariationUnit::kOneSide:
      return fmt::format("from how {} runs vary, for the single run too",
                         std::max(runs(0), runs(1)));
    case VariationUnit::kRounds:
      return fmt::format(
          "from how {} and {} rounds vary, and an assumed deviation of {} between recordings",
          runs(0), runs(1), FormatPercent(verdict.change.assumed));
    case VariationUnit::kBlocks:
      return fmt::format(
          "from how the steps vary within a run, and an assumed deviation of {} "
          "between runs",
          FormatPercent(verdict.change.assumed));
    case VariationUnit::kAssumed:
      break;
  }
  return fmt::format("from an assumed deviation of {} between runs",
                     FormatPercent(verdict.change.assumed));
}

std::vector<std::string> GateLines(const Comparison& comparison, const GateVerdict& gate) {
  const std::string what =
      gate.gate.pattern.empty() ? "energy" : fmt::format("energy of {}", gate.gate.pattern);
  const std::string limit = fmt::format("limit +{}", FormatPercent(gate.gate.limit));
  const EnergyChange& change = gate.change;
  if (!change.change || gate.reason) {
    return {fmt::format("FAILED {}: {}: {} ({})", gate.run, what,
                        gate.reason ? NoteWords(*gate.reason) : "", limit)};
  }
  std::string line =
      fmt::format("{} {}: {} {} ({} -> {} {}), {}", gate.passed ? "passed" : "FAILED", gate.run,
                  what, SignedShare(*change.change), FormatJoules(change.before.value_or(Joules{})),
                  FormatJoules(change.after.value_or(Joules{})),
                  comparison.per_step ? "per step" : "for the run", limit);
  if (change.low) {
    line += fmt::format(", 95 % between {} and {}", SignedShare(*change.low),
                        SignedShare(*change.high));
  }
  line += gate.certain ? "; certain"
                       : "; not certain: " + MoreRunsWords(gate.more_runs, change.unit, "decide");
  std::vector<std::string> lines = {std::move(line)};
  if (!gate.passed) {
    for (const DifferenceRow& row : gate.grew) {
      lines.push_back(fmt::format("  grew: {} by {}{}", row.path.empty() ? "all else" : row.path,
                                  FormatJoules(*row.difference), row.found ? "" : " (noise)"));
    }
  }
  return lines;
}

}  // namespace beryl::views
