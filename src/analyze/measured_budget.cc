// A recording compared with a budget: its devices instead of operations.
#include <cmath>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "base/text.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

// What a line is about, added up.
struct Found {
  std::optional<Joules> energy = Joules{};
  Joules high;  // the upper end of its interval, if it has one
  Origin origin = Origin::kMeasured;
  bool complete = true;
};

// The devices that a pattern names. Readings that are missing are noted.
Found AddDevices(const Measurement& measured, const std::string& pattern, BudgetVerdict& verdict) {
  Found found;
  const PathPattern wanted(pattern);
  for (const DeviceEnergy& device : measured.devices) {
    if (!wanted.Matches(device.device)) continue;
    verdict.matched.push_back(device.device);
    if (!device.energy) {
      found.complete = false;
    } else {
      *found.energy += *device.energy;
      found.high += device.high.value_or(*device.energy);
    }
    if (device.origin == Origin::kEstimated) found.origin = device.origin;
    found.complete = found.complete && device.gaps.empty();
  }
  verdict.matched_count = verdict.matched.size();
  return found;
}

// What one run of the command took, on average over the rounds.
Found OfARun(const Measurement& measured, bool ours, const Found& whole) {
  Found found = whole;
  Joules sum;
  uint64_t known = 0;
  for (const WindowEnergy& window : measured.windows) {
    if (window.runs == 0 || window.warm_up) continue;
    const std::optional<Joules>& energy = ours ? window.ours : window.energy;
    found.complete = found.complete && energy;
    if (!energy) continue;
    sum += *energy / window.runs;
    ++known;
  }
  found.energy.reset();
  if (known == 0) return found;
  found.energy = sum / static_cast<double>(known);
  const double whole_j = ValueOrNan(whole.energy);
  found.high = whole_j > 0 ? *found.energy * (whole.high.value / whole_j) : Joules{};
  return found;
}

// What a line is about; nothing if the recording does not have it, with the reason in `verdict`.
std::optional<Found> Find(const BudgetLine& line, const Measurement& measured,
                          BudgetVerdict& verdict) {
  const auto missing = [&](const char* reason) {
    verdict.reason = reason;
    return std::nullopt;
  };
  if (line.phase) {
    return missing("a recording has no phases; beryl account has those of its operations");
  }
  const TotalEnergy& total = measured.total;
  const bool is_ours = !line.whole_run && line.pattern == "ours";
  Found found;
  if (line.whole_run) {
    found = {total.energy, total.high.value_or(Joules{}), total.origin, total.missing.empty()};
  } else if (is_ours) {
    found = {total.ours, total.ours_high.value_or(Joules{}), total.origin,
             total.missing.empty() && total.all_split};
  } else {
    found = AddDevices(measured, line.pattern, verdict);
    if (verdict.matched.empty()) {
      for (const DeviceEnergy& device : measured.devices) verdict.nearest.push_back(device.device);
      return missing("no device has that name; total and ours are the other choices");
    }
  }
  if (!line.per_step) return found;
  if (measured.run.time.rounds == 0) {
    return missing("a step is a run of the command in a round, and the recording has no rounds");
  }
  if (!line.whole_run && !is_ours) {
    return missing("of a run of the command, only total and ours are known");
  }
  return OfARun(measured, is_ours, found);
}

BudgetVerdict Check(const BudgetLine& line, const Measurement& measured, bool allow_incomplete) {
  BudgetVerdict verdict;
  verdict.budget = line;
  const std::optional<Found> found = Find(line, measured, verdict);
  if (!found) return verdict;
  if (!found->energy || !std::isfinite(found->energy->value)) {
    verdict.reason = "its energy is unknown";
    return verdict;
  }
  verdict.energy = found->energy;
  const double whole = ValueOrNan(measured.total.energy);
  if (whole > 0) verdict.share = found->energy->value / whole;
  const double value = line.limit_energy ? found->energy->value : verdict.share.value_or(kUnknown);
  const double limit = line.limit_energy ? line.limit_energy->value : line.limit_share.value_or(0);
  if (!std::isfinite(value)) {
    verdict.reason = "its share is unknown: the recording has no energy";
    return verdict;
  }
  if (value > limit) {
    verdict.reason = line.limit_energy
                         ? fmt::format("{} over", FormatJoules(value - limit))
                         : fmt::format("{} of the whole over", FormatPercent(value - limit));
    return verdict;
  }
  // A limit that is kept only because readings are missing is not kept.
  verdict.passed = found->complete || allow_incomplete;
  if (!found->complete) {
    verdict.reason = allow_incomplete ? "as far as it is known: readings are missing"
                                      : "unknown: readings are missing";
  } else if (line.limit_energy && found->high.value > limit) {
    verdict.reason = fmt::format("{}up to {} is possible",
                                 found->origin == Origin::kEstimated ? "an estimate; " : "",
                                 FormatJoules(found->high));
  }
  return verdict;
}

}  // namespace

std::vector<BudgetVerdict> CheckBudget(const std::vector<BudgetLine>& budget,
                                       const Measurement& measured, bool allow_incomplete) {
  std::vector<BudgetVerdict> verdicts;
  verdicts.reserve(budget.size());
  for (const BudgetLine& line : budget) {
    verdicts.push_back(Check(line, measured, allow_incomplete));
  }
  return verdicts;
}

}  // namespace beryl::analyze
