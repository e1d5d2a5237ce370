#include "analyze/changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "base/compensated_sum.h"
#include "types/unknown.h"

namespace beryl::analyze {
namespace {

// The relative deviation between runs of one program, assumed where a side has one run: on a
// machine with meters that does nothing else, runs differ by one or two per cent.
constexpr double kRepeats = 0.02;
// An estimate follows CPU time, which follows the scheduler.
constexpr double kEstimatesRepeat = 0.06;
// Beside others, runs repeat less well. Where others used 70 % of the energy, rounds of one command
// deviated by 12 %.
constexpr double kBesideOthers = 0.15;
// The rounds of a recording show some of that. What they have in common they do not show: the load,
// the temperature, where the scheduler put the command.
constexpr double kBeyondRounds = 0.5;
// A run of a few steps, or a short one without steps, may see only one state of the machine.
constexpr double kShortRun = 3;
constexpr Seconds kShort{10};
// The variance of a part of the program, in variances of the whole.
constexpr double kPart = 2;
// Beside others who use more than this, nothing is known of a program.
constexpr double kMostOthers = 0.999;
// What a processor draws grows by at most so much a kelvin, because it leaks more and fans turn
// faster.
constexpr double kOfAKelvin = 0.003;
// The standard deviation of a number that may be anywhere between -1 and 1.
const double kAnywhere = 1 / std::numbers::sqrt3;

constexpr double kTail = 0.05;
constexpr double kPowerTail = 0.4;  // two-sided; one-sided it leaves the 20 % that are missed
constexpr uint64_t kMostRuns = 1000;

double Square(double x) { return x * x; }

std::vector<double> Energies(const SideFigures& side) {
  std::vector<double> energies;
  for (const RowFigures& run : side.runs) energies.push_back(run.energy.value);
  return energies;
}

double MeanOf(const std::vector<double>& values) {
  CompensatedSum sum;
  for (const double value : values) sum.Add(value);
  return sum.value() / static_cast<double>(values.size());
}

// How far the means of two samples are apart, beyond the variation within them.
double Apart(const std::vector<double>& a, const std::vector<double>& b) {
  double square = Square(MeanOf(a) - MeanOf(b));
  for (const auto* sample : {&a, &b}) {
    if (sample->size() > 1) square -= SpreadOfMean(*sample).variance;
  }
  return std::sqrt(std::max(0.0, square));
}

// By how much others may change what a program takes, as a logarithm. They share the power
// that the machine draws when idle: if the program hardly does anything else, others who use a
// share s leave it 1 - s of what it takes alone.
double LoadOf(const RunConditions& run) {
  return -std::log1p(-std::min(run.others_share.value_or(0), kMostOthers));
}

double LoadApart(const SideConditions& before, const SideConditions& after) {
  std::vector<double> loads_before;
  std::vector<double> loads_after;
  for (const auto& [side, loads] : {std::pair(&before, &loads_before), {&after, &loads_after}}) {
    for (const RunConditions* run : side->runs) {
      if (!run->others_share) return 0;
      loads->push_back(LoadOf(*run));
    }
  }
  return Apart(loads_before, loads_after);
}

// The largest `of_apart` of a device, from its values on both sides, if all runs know it.
template <typename OfApart>
double MostOf(const SideConditions& before, const SideConditions& after,
              std::map<std::string, double> RunConditions::*values, OfApart&& of_apart) {
  double most = 0;
  for (const auto& [device, first] : before.runs.front()->*values) {
    std::vector<double> values_before;
    std::vector<double> values_after;
    bool known = true;
    for (const auto& [side, here] : {std::pair(&before, &values_before), {&after, &values_after}}) {
      for (const RunConditions* run : side->runs) {
        const auto found = (run->*values).find(device);
        known = known && found != (run->*values).end();
        if (known) here->push_back(found->second);
      }
    }
    if (known) most = std::max(most, of_apart(values_before, values_after));
  }
  return most;
}

double ClocksApart(const SideConditions& before, const SideConditions& after) {
  return MostOf(before, after, &RunConditions::clocks, [](const auto& here, const auto& there) {
    return MeanOf(here) > 0 ? Apart(here, there) / MeanOf(here) : 0;
  });
}

double TemperaturesApart(const SideConditions& before, const SideConditions& after) {
  return MostOf(
      before, after, &RunConditions::temperatures,
      [](const auto& here, const auto& there) { return kOfAKelvin * Apart(here, there); });
}

double Fixed(const Circumstances& circumstances) {
  return Square(circumstances.load) + Square(circumstances.clock) +
         Square(circumstances.temperature);
}

double AssumedOf(const SideConditions& side) {
  const RunConditions& run = *side.runs.front();
  const double assumed = std::hypot(run.estimated ? kEstimatesRepeat : kRepeats,
                                    kBesideOthers * run.others_share.value_or(0));
  if (side.runs.size() > 1) return assumed;  // rounds show some states
  const StepBlocks& blocks = *side.blocks.front();
  const bool is_short =
      blocks.steps.empty() ? run.duration && *run.duration < kShort : blocks.too_few();
  return is_short ? kShortRun * assumed : assumed;
}

// The only run of a side: its blocks and its drift.
std::vector<Spread> OfOneRun(const RowFigures& run, double scale) {
  std::vector<Spread> parts = {{Square(kAnywhere * run.drift.value * scale)}};
  if (run.within) parts.push_back({run.within->variance * scale * scale, run.within->freedom});
  return parts;
}

Spread Scaled(Spread spread, double scale) {
  return {spread.variance * scale * scale, spread.freedom};
}

// Of the difference of both sides, each multiplied by its scale.
Spread SpreadOf(const SideFigures& before, const SideFigures& after,
                const Circumstances& circumstances, double scale_before, double scale_after) {
  const bool several_before = before.runs.size() > 1;
  const bool several_after = after.runs.size() > 1;
  const double mean_before = before.energy().value * scale_before;
  const double mean_after = after.energy().value * scale_after;
  std::vector<Spread> parts;
  if (several_before) parts.push_back(Scaled(SpreadOfMean(Energies(before)), scale_before));
  if (several_after) parts.push_back(Scaled(SpreadOfMean(Energies(after)), scale_after));
  if (several_before != several_after) {
    // A single run varies as much as those of the other side, relative to its energy.
    const auto runs = static_cast<double>(std::max(before.runs.size(), after.runs.size()));
    const double there = several_before ? mean_before : mean_after;
    const double here = several_before ? mean_after : mean_before;
    const double ratio = there > 0 ? here / there : 1;
    parts.front().variance *= 1 + runs * ratio * ratio;
  }
  if (!several_before && !several_after) {
    parts = OfOneRun(before.runs.front(), scale_before);
    for (const Spread& part : OfOneRun(after.runs.front(), scale_after)) parts.push_back(part);
  }
  parts.push_back({Square(circumstances.before * mean_before)});
  parts.push_back({Square(circumstances.after * mean_after)});
  const double middle = (mean_before + mean_after) / 2;
  parts.push_back({Fixed(circumstances) * Square(middle)});
  return SumOf(parts);
}

// The relative variance of the mean of `side`, as far as runs show it.
double OfTheMean(const SideFigures& side, const SideFigures& other) {
  const double mean = side.energy().value;
  if (side.runs.size() > 1) return SpreadOfMean(Energies(side)).variance / Square(mean);
  if (other.runs.size() > 1) return OfTheMean(other, side) * static_cast<double>(other.runs.size());
  return SumOf(OfOneRun(side.runs.front(), 1 / mean)).variance;
}

VariationUnit UnitOf(const SideFigures& before, const SideFigures& after,
                     const Circumstances& circumstances) {
  const bool several_before = before.runs.size() > 1;
  const bool several_after = after.runs.size() > 1;
  if (circumstances.have_rounds && (several_before || several_after)) return VariationUnit::kRounds;
  if (several_before && several_after) return VariationUnit::kRuns;
  if (several_before || several_after) return VariationUnit::kOneSide;
  return circumstances.has_blocks ? VariationUnit::kBlocks : VariationUnit::kAssumed;
}

}  // namespace

bool SideFigures::present() const {
  return std::any_of(runs.begin(), runs.end(), [](const RowFigures& run) { return run.present; });
}

bool SideFigures::known() const {
  return present() && std::all_of(runs.begin(), runs.end(),
                                  [](const RowFigures& run) { return run.known || !run.present; });
}

Joules SideFigures::energy() const { return Joules{MeanOf(Energies(*this))}; }

Circumstances CircumstancesOf(const SideConditions& before, const SideConditions& after,
                              bool runs_are_rounds) {
  Circumstances found;
  found.load = kAnywhere * LoadApart(before, after);
  found.clock = kAnywhere * ClocksApart(before, after);
  found.temperature = kAnywhere * TemperaturesApart(before, after);
  const bool several = before.runs.size() > 1 || after.runs.size() > 1;
  found.have_rounds = several && runs_are_rounds;
  if (several && !found.have_rounds) return found;
  const double beyond = found.have_rounds ? kBeyondRounds : 1;
  found.before = beyond * AssumedOf(before);
  found.after = beyond * AssumedOf(after);
  if (several) return found;
  found.has_blocks = !before.blocks.front()->too_few() && !after.blocks.front()->too_few();
  return found;
}

Circumstances OfAPart(Circumstances whole) {
  whole.before *= std::sqrt(kPart);
  whole.after *= std::sqrt(kPart);
  return whole;
}

Spread SpreadOfDifference(const SideFigures& before, const SideFigures& after,
                          const Circumstances& circumstances) {
  return SpreadOf(before, after, circumstances, 1, 1);
}

EnergyChange ChangeOf(const SideFigures& before, const SideFigures& after,
                      const Circumstances& circumstances) {
  EnergyChange found;
  found.before = before.energy();
  found.after = after.energy();
  found.unit = UnitOf(before, after, circumstances);
  found.assumed = std::max(circumstances.before, circumstances.after);
  found.load = circumstances.load;
  found.clock = circumstances.clock;
  found.temperature = circumstances.temperature;
  if (!(*found.before > Joules{})) return found;
  const double ratio = *found.after / *found.before;
  if (!std::isfinite(ratio)) return found;
  found.change = ratio - 1;
  // Nothing at all, so there is no ratio of which an interval could be given.
  if (!(ratio > 0)) return found;
  const double scale_before = 1 / found.before->value;
  const double scale_after = 1 / found.after->value;
  if (before.runs.size() == 1 && after.runs.size() == 1) {
    found.drift = kAnywhere * std::hypot(before.runs.front().drift.value * scale_before,
                                         after.runs.front().drift.value * scale_after);
  }
  // Energies vary in proportion, so the logarithm of their ratio has a symmetric interval.
  const Spread spread = SpreadOf(before, after, circumstances, scale_before, scale_after);
  const double error = std::sqrt(spread.variance);
  const double away = std::log(ratio);
  const double half = error > 0 ? StudentQuantile(kTail, spread.freedom) * error : 0;
  const double low = std::exp(away - half) - 1;
  const double high = std::exp(away + half) - 1;
  if (!std::isfinite(high)) return found;
  found.low = low;
  found.high = high;
  found.p_value =
      error > 0 ? StudentTail(std::fabs(away) / error, spread.freedom) : (away == 0 ? 1.0 : 0.0);
  return found;
}

std::optional<uint64_t> MoreRuns(const SideFigures& before, const SideFigures& after,
                                 const Circumstances& circumstances, double limit) {
  const double ratio = after.energy().value / before.energy().value;
  const double effect = std::fabs(std::log(ratio) - std::log1p(limit));
  if (!(ratio > 0) || !std::isfinite(effect)) return std::nullopt;
  // Further recordings, each with its rounds, or further runs.
  const bool rounds = circumstances.have_rounds;
  const double count_before = rounds ? 1 : static_cast<double>(before.runs.size());
  const double count_after = rounds ? 1 : static_cast<double>(after.runs.size());
  const double of_before = OfTheMean(before, after) * count_before + Square(circumstances.before);
  const double of_after = OfTheMean(after, before) * count_after + Square(circumstances.after);
  const double fixed = Fixed(circumstances);
  const auto would_show = [&](uint64_t more) {
    const double runs_before = count_before + static_cast<double>(more);
    const double runs_after = count_after + static_cast<double>(more);
    const double freedom = runs_before + runs_after - 2;
    const double error = std::sqrt(of_before / runs_before + of_after / runs_after + fixed);
    return effect >=
           error * (StudentQuantile(kTail, freedom) + StudentQuantile(kPowerTail, freedom));
  };
  if (!would_show(kMostRuns)) return std::nullopt;
  uint64_t not_enough = 0;
  uint64_t enough = kMostRuns;
  while (enough - not_enough > 1) {
    const uint64_t middle = (not_enough + enough) / 2;
    (would_show(middle) ? enough : not_enough) = middle;
  }
  return enough;
}

}  // namespace beryl::analyze
