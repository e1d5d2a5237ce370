#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analyze/analyze.h"
#include "analyze/profile.h"
#include "analyze/statistics.h"
#include "types/unknown.h"

namespace beryl::analyze {
namespace {

// A matrix with more boxes is unreadable; more steps are grouped.
constexpr size_t kMostGroups = 12;

double SumOfKnown(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    if (!std::isnan(value)) sum += value;
  }
  return sum;
}

// The share of the energy that belongs to different names in the two.
double Moved(const std::vector<double>& a, const std::vector<double>& b) {
  const double whole_a = SumOfKnown(a);
  const double whole_b = SumOfKnown(b);
  if (!(whole_a > 0) || !(whole_b > 0)) return kUnknown;
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double in_a = std::isnan(a[i]) ? 0 : a[i] / whole_a;
    const double in_b = std::isnan(b[i]) ? 0 : b[i] / whole_b;
    distance += std::fabs(in_a - in_b);
  }
  return distance / 2;
}

double PeriodOf(const Footprint& footprint) {
  double fastest = kUnknown;
  for (const ChannelAccount& account : footprint.channels) {
    if (account.readings < 2) continue;
    const double period = (account.window_end - account.window_start).seconds() * 1e3 /
                          static_cast<double>(account.readings - 1);
    fastest = std::fmin(fastest, period);
  }
  return fastest;
}

// The mean and the minimum over the runs, which may have different numbers of points.
std::vector<Precision::Sparsing> Combine(
    const std::vector<std::vector<Precision::Sparsing>>& of_runs) {
  std::map<uint32_t, std::vector<Precision::Sparsing>> by_every;
  for (const auto& run : of_runs) {
    for (const Precision::Sparsing& point : run) by_every[point.every].push_back(point);
  }
  std::vector<Precision::Sparsing> combined;
  for (const auto& [every, points] : by_every) {
    Precision::Sparsing sum;
    sum.every = every;
    sum.lowest = kUnknown;
    const auto count = static_cast<double>(points.size());
    for (const Precision::Sparsing& point : points) {
      sum.period_ms += point.period_ms / count;
      sum.pearson += point.pearson / count;
      sum.moved += point.moved / count;
      sum.lowest = std::fmin(sum.lowest, point.lowest);
      if (std::isnan(point.total_change) ||
          std::fabs(point.total_change) > std::fabs(sum.total_change)) {
        sum.total_change = point.total_change;
      }
    }
    combined.push_back(sum);
  }
  return combined;
}

void AddKnown(const std::vector<double>& values, std::vector<double>& sum) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) sum[i] = (std::isnan(sum[i]) ? 0 : sum[i]) + values[i];
  }
}

// Compares the first n samples with all of them, for each n in `counts`. Samples are summed in
// pieces between two counts, so that memory does not grow with their number.
class Widener {
 public:
  Widener(size_t samples, size_t names) : counts_(LogLikeCounts(samples)) {
    if (counts_.back() != samples) counts_.push_back(static_cast<uint32_t>(samples));
    pieces_.assign(counts_.size(), std::vector<double>(names, kUnknown));
  }

  std::vector<double>& PieceOf(size_t sample) {
    const auto piece = std::upper_bound(counts_.begin(), counts_.end(), sample);
    return pieces_[static_cast<size_t>(piece - counts_.begin())];
  }

  std::vector<Precision::Widening> Points() const {
    std::vector<double> all(pieces_.front().size(), kUnknown);
    for (const auto& piece : pieces_) AddKnown(piece, all);
    std::vector<double> some(all.size(), kUnknown);
    std::vector<Precision::Widening> points;
    for (size_t i = 0; i < counts_.size(); ++i) {
      AddKnown(pieces_[i], some);
      points.push_back({counts_[i], Pearson(some, all), Moved(some, all)});
    }
    return points;
  }

 private:
  std::vector<uint32_t> counts_;
  std::vector<std::vector<double>> pieces_;
};

void OverSteps(const RunToCompare& run, Precision& precision) {
  const std::vector<uint32_t> steps = KnownSteps(*run.footprint);
  if (steps.size() < 2) return;
  precision.sample = "step";
  const NameTable names = MakeNames(*run.trace, *run.folded, {});
  std::map<uint32_t, size_t> number;
  for (size_t i = 0; i < steps.size(); ++i) number[steps[i]] = i;
  Widener widener(steps.size(), names.names.size());
  for (const EnergyShare& share : run.footprint->shares) {
    if (share.step == kNoStep || !share.IsKnown()) continue;
    std::vector<double>& piece = widener.PieceOf(number.at(share.step));
    for (const uint32_t name : names.of_kind[share.kind]) {
      piece[name] = (std::isnan(piece[name]) ? 0 : piece[name]) + share.energy.value;
    }
  }
  precision.widening = widener.Points();

  const size_t groups = std::min(steps.size(), kMostGroups);
  std::vector<std::string> labels;
  std::vector<EnergyProfile> profiles;
  for (size_t group = 0; group < groups; ++group) {
    const size_t first = group * steps.size() / groups;
    const size_t last = (group + 1) * steps.size() / groups - 1;
    const std::string& name = run.trace->steps[steps[first]].name;
    labels.push_back(
        first == last ? name : fmt::format("{}…{}", name, run.trace->steps[steps[last]].name));
    profiles.push_back(ProfileOf(
        names, *run.footprint,
        [&](const EnergyShare& share) {
          return share.step != kNoStep && share.step >= steps[first] && share.step <= steps[last];
        },
        static_cast<double>(last - first + 1)));
  }
  precision.stability = Similarity(labels, profiles);
}

void OverRuns(const std::vector<RunToCompare>& runs, Precision& precision) {
  precision.sample = "run";
  std::vector<const TraceTree*> folded;
  std::vector<std::string> labels;
  for (const RunToCompare& run : runs) {
    folded.push_back(run.folded);
    labels.push_back(run.label);
  }
  const std::vector<TraceTree> trees = Merge(folded);
  std::vector<EnergyProfile> profiles;
  std::map<std::pair<std::string, Phase>, size_t> place_of;
  for (size_t run = 0; run < runs.size(); ++run) {
    profiles.push_back(Profile(*runs[run].trace, *runs[run].footprint, trees[run], {}, false));
    for (const NamedEnergy& entry : profiles.back()) {
      place_of.try_emplace({entry.name, entry.phase}, place_of.size());
    }
  }
  Widener widener(runs.size(), place_of.size());
  for (size_t run = 0; run < runs.size(); ++run) {
    std::vector<double> sample(place_of.size(), kUnknown);
    for (const NamedEnergy& entry : profiles[run]) {
      sample[place_of.at({entry.name, entry.phase})] = ValueOrNan(entry.energy);
    }
    AddKnown(sample, widener.PieceOf(run));
  }
  precision.widening = widener.Points();
  precision.stability = Similarity(labels, profiles);
}

void Conclude(Precision& precision) {
  std::vector<Note>& said = precision.verdicts;
  // The share of energy that may move before a result counts as dependent on its sampling.
  constexpr double kLittleMoved = 0.02;
  constexpr double kMuchMoved = 0.10;
  // Results with this correlation look the same; a correlation of 0.7 is commonly called strong.
  constexpr double kSame = 0.99;
  constexpr double kAlike = 0.9;
  constexpr double kStrong = 0.7;
  const auto twice = std::find_if(precision.sparsing.begin(), precision.sparsing.end(),
                                  [](const Precision::Sparsing& point) { return point.every > 1; });
  if (twice == precision.sparsing.end()) {
    said.emplace_back(NoteKind::kTooFewReadings);
  } else if (std::isnan(twice->moved)) {
    said.emplace_back(NoteKind::kPrecisionNotKnown);
  } else {
    const NoteKind kind = twice->moved < kLittleMoved ? NoteKind::kRateDoesNotMatter
                          : twice->moved < kMuchMoved ? NoteKind::kRateMattersSlightly
                                                      : NoteKind::kRateMatters;
    said.push_back({kind, "", {twice->every, twice->moved, twice->pearson}});
  }
  const std::string& sample = precision.sample;
  if (sample.empty()) {
    said.emplace_back(NoteKind::kNothingToRepeat);
    return;
  }
  const auto enough =
      std::find_if(precision.widening.begin(), precision.widening.end(),
                   [](const Precision::Widening& point) { return point.pearson >= kSame; });
  if (enough != precision.widening.end()) {
    const uint32_t all = precision.widening.back().samples;
    if (enough->samples == all && all > 1) {
      said.push_back({NoteKind::kAllSamplesNeeded, sample, {all}});
    } else {
      said.push_back({NoteKind::kSamplesEnough, sample, {enough->samples, all, enough->pearson}});
    }
  }
  const size_t boxes = precision.stability.runs.size();
  double lowest = kUnknown;
  for (size_t i = 0; i < boxes * boxes; ++i) {
    if (i / boxes != i % boxes) lowest = std::fmin(lowest, precision.stability.energy_pearson[i]);
  }
  if (!std::isnan(lowest)) {
    const NoteKind kind = lowest >= kAlike    ? NoteKind::kSamplesAgree
                          : lowest >= kStrong ? NoteKind::kSamplesMostlyAgree
                                              : NoteKind::kSamplesDisagree;
    said.push_back({kind, sample, {lowest}});
  }
}

}  // namespace

std::vector<uint32_t> LogLikeCounts(uint64_t largest) {
  std::vector<uint32_t> counts;
  for (const uint32_t small : {1U, 2U, 3U, 4U, 5U}) {
    if (small <= largest) counts.push_back(small);
  }
  // Two in each doubling: powers of two, and multiples of ten between them.
  for (uint64_t power = 8, round = 10; power <= largest && power < (uint64_t{1} << 31);
       power *= 2, round *= 2) {
    counts.push_back(static_cast<uint32_t>(power));
    if (round <= largest) counts.push_back(static_cast<uint32_t>(round));
  }
  return counts;
}

std::vector<Precision::Sparsing> Sparse(const OpTrace& trace, const std::vector<Footprint>& thinned,
                                        const std::vector<uint32_t>& every,
                                        const TraceTree& folded) {
  const NameTable names = MakeNames(trace, folded, {});
  const auto everything = [](const EnergyShare&) { return true; };
  std::vector<Precision::Sparsing> points;
  std::vector<double> all;
  for (size_t i = 0; i < thinned.size(); ++i) {
    const std::vector<double> energy = EnergyByName(names, thinned[i], everything);
    if (i == 0) all = energy;
    Precision::Sparsing point;
    point.every = every[i];
    point.period_ms = PeriodOf(thinned[i]);
    point.pearson = point.lowest = Pearson(energy, all);
    point.moved = Moved(energy, all);
    const double whole = SumOfKnown(all);
    point.total_change = whole > 0 ? (SumOfKnown(energy) - whole) / whole : kUnknown;
    points.push_back(point);
  }
  return points;
}

Precision MeasurePrecision(const std::vector<RunToCompare>& runs,
                           const std::vector<std::vector<Precision::Sparsing>>& sparsing) {
  Precision precision;
  for (const RunToCompare& run : runs) precision.labels.push_back(run.label);
  precision.sparsing = Combine(sparsing);
  if (runs.size() == 1) {
    OverSteps(runs.front(), precision);
  } else {
    OverRuns(runs, precision);
  }
  precision.stability.level = NameLevelWords({});
  Conclude(precision);
  return precision;
}

}  // namespace beryl::analyze
