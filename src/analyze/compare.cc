#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyze/analyze.h"
#include "analyze/differences.h"
#include "analyze/figures.h"
#include "types/find_nodes.h"

namespace beryl::analyze {
namespace {

constexpr size_t kGrewMost = 3;
constexpr size_t kNearest = 3;
// A smaller systematic part of an interval goes without a note.
constexpr double kWorthANote = 0.005;

// The meters that feed operations.
std::set<std::string> Meters(const Footprint& footprint) {
  std::set<uint32_t> feeding;
  for (const EnergyShare& share : footprint.shares) feeding.insert(share.channel);
  std::set<std::string> meters;
  for (const uint32_t channel : feeding) {
    const std::string_view name = BareDevice(footprint.channels[channel].channel);
    meters.insert(std::string(name.substr(0, name.find(':'))));
  }
  return meters;
}

// "CPU and GPU", "CPU (estimated: CPU time: 11 W idle to 35 W ...)".
std::string MeterWords(const RunToCompare& run) {
  std::string words = fmt::format("{}", fmt::join(Meters(*run.footprint), " and "));
  if (!run.conditions.estimated) return words;
  const auto& curves = run.conditions.estimates;
  return fmt::format("{} (estimated{}{})", words, curves.empty() ? "" : ": ",
                     fmt::join(curves, " and "));
}

// A channel on which the energy of a run's operations is incomplete.
struct Unread {
  double share;  // of the operation time on the channel
  std::string channel;
};
std::optional<Unread> FindUnread(const Footprint& footprint) {
  std::vector<double> busy(footprint.channels.size(), 0);
  for (const EnergyShare& share : footprint.shares) busy[share.channel] += share.busy.seconds();
  for (size_t channel = 0; channel < busy.size(); ++channel) {
    const ChannelAccount& account = footprint.channels[channel];
    const double uncovered = account.uncovered.seconds();
    const double all = uncovered + busy[channel];
    if (all > 0 && uncovered > kMostUncovered * all) {
      return Unread{uncovered / all, account.channel};
    }
  }
  return std::nullopt;
}

class Comparer {
 public:
  Comparer(const std::vector<RunToCompare>& runs, const CompareOptions& options)
      : runs_(runs), options_(options) {
    std::vector<const TraceTree*> trees;
    trees.reserve(runs.size());
    for (const RunToCompare& run : runs) trees.push_back(run.folded);
    trees_ = Merge(trees);
    for (const RunToCompare& run : runs) blocks_.push_back(BlocksOf(*run.footprint));
    comparison_.per_step = std::all_of(blocks_.begin(), blocks_.end(),
                                       [](const StepBlocks& run) { return !run.steps.empty(); });
    comparison_.of = options.of;
    comparison_.false_discovery = options.false_discovery;
    SetSides();
  }

  Comparison Run() {
    for (const RunToCompare& run : runs_) AddTotal(run);
    AddSimilarity();
    for (size_t side = 1; side < sides_.size(); ++side) AddVerdict(side);
    if (sides_.size() == 2) {
      Differences found = Between(1, options_.differences_level);
      comparison_.differences = std::move(found.rows);
      comparison_.differences_level = options_.differences_level
                                          ? NameLevelWords(*options_.differences_level)
                                          : "the deepest nodes that explain it";
      if (found.unknown_names > 0) {
        comparison_.notes.push_back({NoteKind::kNodesWithoutEnergy, "", {found.unknown_names}});
      }
    }
    if (!options_.gates.empty()) FindWhatGrew();
    for (const GateLimit& gate : options_.gates) {
      for (size_t side = 1; side < sides_.size(); ++side) AddGate(gate, side);
    }
    AddNotes();
    return std::move(comparison_);
  }

 private:
  bool IsOfOperations() const { return options_.of == ComparedEnergy::kOperations; }

  void SetSides() {
    std::vector<size_t> sizes = options_.sides;
    if (sizes.empty()) sizes.assign(runs_.size(), 1);
    size_t run = 0;
    for (const size_t size : sizes) {
      ComparedSide named;
      Side& side = sides_.emplace_back();
      SideConditions& conditions = conditions_.emplace_back();
      for (size_t i = 0; i < size; ++i, ++run) {
        named.runs.push_back(run);
        side.push_back(
            {runs_[run].footprint, &trees_[run], comparison_.per_step ? &blocks_[run] : nullptr});
        conditions.runs.push_back(&runs_[run].conditions);
        conditions.blocks.push_back(comparison_.per_step ? &blocks_[run] : &no_blocks_);
      }
      named.label = runs_[named.runs.front()].label;
      if (size > 1) named.label += fmt::format(" and {} more", size - 1);
      const size_t at = comparison_.sides.size();
      if (at < options_.side_labels.size()) named.label = options_.side_labels[at];
      comparison_.sides.push_back(std::move(named));
    }
    for (const SideConditions& side : conditions_) {
      circumstances_.push_back(
          CircumstancesOf(conditions_.front(), side, options_.runs_are_rounds));
    }
  }

  Differences Between(size_t after, const std::optional<NameLevel>& level) const {
    return FindDifferences(sides_[0], sides_[after], circumstances_[after],
                           {level, options_.false_discovery});
  }

  void AddTotal(const RunToCompare& run) {
    // One row for each phase, and one for all phases.
    RowsOfKind rows;
    for (const OpKind& kind : run.trace->kinds) {
      rows.push_back({static_cast<uint32_t>(kind.phase), kPhaseCount});
    }
    const StepBlocks& blocks = blocks_[comparison_.totals.size()];
    const auto figures = comparison_.per_step
                             ? MeansOfSteps(*run.footprint, rows, kPhaseCount + 1, blocks)
                             : Figures(*run.footprint, rows, kPhaseCount + 1, false);
    RunTotal total;
    total.run = run.label;
    total.steps = blocks.steps.size();
    auto known = [](const RowFigures& row) {
      return row.known || !row.present ? std::optional(row.energy) : std::nullopt;
    };
    for (size_t phase = 0; phase < kPhaseCount && IsOfOperations(); ++phase) {
      total.by_phase[phase] = known(figures[phase]);
    }
    // A run without operations has unknown energy, not zero energy.
    if (figures.back().known) total.attributed = figures.back().energy;
    if (figures.back().known && comparison_.per_step && total.steps > 1) {
      StepStatistics spread;
      spread.sum = figures.back().energy.value * static_cast<double>(total.steps);
      ForEachStep(SharesInSteps(*run.footprint), RowsOfKind(rows.size(), {0}), 1,
                  [&](uint32_t, double energy) { spread.AddDistance(energy, total.steps); });
      total.deviation = Joules{spread.Deviation(total.steps)};
    }
    const double divisor = comparison_.per_step ? static_cast<double>(total.steps) : 1;
    for (const ChannelAccount& account : run.footprint->channels) {
      total.idle += (account.idle - account.outside_trace) / divisor;
      total.unattributed += account.unattributed / divisor;
    }
    if (comparison_.per_step) {
      Joules outside;
      for (const EnergyShare& share : run.footprint->shares) {
        if (share.step == kNoStep && share.IsKnown()) outside += share.energy;
      }
      if (outside > Joules{}) total.outside_steps = outside;
    }
    comparison_.totals.push_back(std::move(total));
  }

  void AddSimilarity() {
    std::vector<std::string> labels;
    std::vector<EnergyProfile> profiles;
    for (size_t run = 0; run < runs_.size(); ++run) {
      labels.push_back(runs_[run].label);
      profiles.push_back(Profile(*runs_[run].trace, *runs_[run].footprint, trees_[run],
                                 options_.level, comparison_.per_step));
    }
    comparison_.similarity = Similarity(labels, profiles);
    comparison_.similarity.level =
        IsOfOperations() ? NameLevelWords(options_.level) : "processes and devices";
  }

  // The operations that match a pattern (empty: all), as the only row of a side.
  SideFigures Matching(const std::string& pattern, size_t side) const {
    return FiguresOf(
               sides_[side],
               [&](const TraceTree& tree) {
                 RowsOfKind rows(tree.node_of_kind.size());
                 const std::vector<bool> met = pattern.empty()
                                                   ? std::vector<bool>(tree.tree.nodes.size(), true)
                                                   : NodesMet(PathPattern(pattern), tree.tree);
                 for (size_t kind = 0; kind < rows.size(); ++kind) {
                   if (met[tree.node_of_kind[kind]]) rows[kind].push_back(0);
                 }
                 return rows;
               },
               1)
        .front();
  }

  void AddVerdict(size_t side) {
    TotalVerdict verdict;
    verdict.before = comparison_.sides[0].label;
    verdict.after = comparison_.sides[side].label;
    const SideFigures before = Matching("", 0);
    const SideFigures after = Matching("", side);
    if (before.known()) verdict.change.before = before.energy();
    if (after.known()) verdict.change.after = after.energy();
    verdict.reason = WhyNot("", side, before, after);
    if (!verdict.reason) {
      verdict.change = ChangeOf(before, after, circumstances_[side]);
      const EnergyChange& change = verdict.change;
      verdict.certain = change.low && (*change.low > 0 || *change.high < 0);
      if (!verdict.certain) verdict.more_runs = MoreRuns(before, after, circumstances_[side], 0);
    }
    comparison_.verdicts.push_back(std::move(verdict));
  }

  void FindWhatGrew() {
    grew_.resize(sides_.size());
    for (size_t side = 1; side < sides_.size(); ++side) {
      for (DifferenceRow& row : Between(side, std::nullopt).rows) {
        if (grew_[side].size() == kGrewMost) break;
        if (row.difference && *row.difference > Joules{}) grew_[side].push_back(std::move(row));
      }
    }
  }

  void AddGate(const GateLimit& gate, size_t side) {
    GateVerdict verdict;
    verdict.gate = gate;
    verdict.run = comparison_.sides[side].label;
    const SideFigures before = Matching(gate.pattern, 0);
    const SideFigures after = Matching(gate.pattern, side);
    if (before.known()) verdict.change.before = before.energy();
    if (after.known()) verdict.change.after = after.energy();
    verdict.reason = WhyNot(gate.pattern, side, before, after);
    if (!verdict.reason) Judge(before, after, side, verdict);
    verdict.grew = grew_[side];
    comparison_.gates.push_back(std::move(verdict));
  }

  // Why a change cannot be determined; nothing if it can.
  std::optional<Note> WhyNot(const std::string& pattern, size_t after_side,
                             const SideFigures& before, const SideFigures& after) const {
    if (!before.present() && !after.present() && !pattern.empty()) {
      const auto near = NearPaths(trees_[0].tree, pattern, kNearest);
      return Note(NoteKind::kNoPathMatches, pattern, {fmt::format("{}", fmt::join(near, ", "))});
    }
    for (const size_t side : {size_t{0}, after_side}) {
      const SideFigures& row = side == 0 ? before : after;
      for (size_t i = 0; i < row.runs.size(); ++i) {
        const size_t run = comparison_.sides[side].runs[i];
        const std::string& label = runs_[run].label;
        if (!row.runs[i].present) {
          // A part that is new used nothing before, so its gate can be checked.
          if (!pattern.empty()) continue;
          return Note(comparison_.per_step ? NoteKind::kNoOperationsInSteps
                                           : NoteKind::kRunWithoutOperations,
                      label);
        }
        if (!row.runs[i].known) return Note(NoteKind::kEnergyNotKnown, label);
        if (!runs_[run].missing.empty()) {
          return Note(NoteKind::kEnergyIncomplete, label, {runs_[run].missing});
        }
        if (const auto unread = FindUnread(*runs_[run].footprint)) {
          return Note(NoteKind::kOperationShareWithoutPower, label,
                      {unread->share, unread->channel});
        }
      }
    }
    for (const size_t side : {size_t{0}, after_side}) {
      for (const size_t run : comparison_.sides[side].runs) {
        if (auto note = OtherMeters(run)) return note;
      }
    }
    return std::nullopt;
  }

  // Nothing if the run has the energy of the same meters as the first, or of the same estimate.
  std::optional<Note> OtherMeters(size_t run) const {
    const RunConditions& first = runs_[0].conditions;
    const RunConditions& here = runs_[run].conditions;
    const bool curves_known = !first.estimates.empty() && !here.estimates.empty();
    if (Meters(*runs_[0].footprint) == Meters(*runs_[run].footprint) &&
        first.estimated == here.estimated && (!curves_known || first.estimates == here.estimates)) {
      return std::nullopt;
    }
    return Note(NoteKind::kOtherMeters, runs_[0].label,
                {MeterWords(runs_[0]), runs_[run].label, MeterWords(runs_[run])});
  }

  void Judge(const SideFigures& before, const SideFigures& after, size_t side,
             GateVerdict& verdict) const {
    EnergyChange& change = verdict.change;
    const double limit = verdict.gate.limit;
    if (!(before.energy() > Joules{})) {
      verdict.passed = !(after.energy() > Joules{});
      verdict.certain = true;
      if (verdict.passed) change.change = 0;
      if (!verdict.passed) verdict.reason = Note(NoteKind::kNoEnergyBefore);
      return;
    }
    change = ChangeOf(before, after, circumstances_[side]);
    if (!change.change) {
      verdict.reason = Note(NoteKind::kEnergiesTooLarge);
      return;
    }
    if (!change.low) {
      verdict.passed = *change.change <= limit;
      // What takes nothing any more is below every limit.
      verdict.certain = *change.change == -1;
      return;
    }
    verdict.passed = *change.low <= limit;
    verdict.certain = !verdict.passed || *change.high <= limit;
    if (!verdict.certain) {
      verdict.more_runs = MoreRuns(before, after, circumstances_[side], limit);
    }
  }

  void AddNotes() {
    std::vector<Note>& notes = comparison_.notes;
    for (const RunTotal& total : comparison_.totals) {
      if (total.outside_steps) {
        notes.push_back({NoteKind::kOutsideSteps, total.run, {*total.outside_steps}});
      }
    }
    if (!comparison_.per_step && IsOfOperations()) {
      notes.emplace_back(NoteKind::kNoStepsToCompare);
    }
    for (size_t run = 0; run < runs_.size(); ++run) {
      if (auto note = OtherMeters(run)) notes.push_back(*std::move(note));
      if (const auto unread = FindUnread(*runs_[run].footprint)) {
        notes.push_back({NoteKind::kOperationShareWithoutPower,
                         runs_[run].label,
                         {unread->share, unread->channel}});
      }
    }
    NoteHowItVaries();
  }

  // The systematic parts of the intervals.
  void NoteHowItVaries() {
    std::vector<Note>& notes = comparison_.notes;
    double assumed = 0;
    for (const TotalVerdict& verdict : comparison_.verdicts) {
      assumed = std::max(assumed, verdict.change.assumed);
    }
    if (assumed > 0) notes.push_back({NoteKind::kRunsAssumedToRepeat, "", {assumed}});
    for (size_t side = 0; side < sides_.size(); ++side) {
      if (sides_[side].size() > 1) continue;
      const size_t run = comparison_.sides[side].runs.front();
      const StepBlocks& blocks = blocks_[run];
      if (assumed > 0 && comparison_.per_step && blocks.too_few()) {
        notes.push_back(
            {NoteKind::kTooFewBlocks, runs_[run].label, {blocks.steps.size(), blocks.count}});
      }
    }
    for (size_t side = 1; side < sides_.size(); ++side) {
      const TotalVerdict& verdict = comparison_.verdicts[side - 1];
      if (verdict.change.unit == VariationUnit::kOneSide) {
        const bool first = sides_[0].size() == 1;
        notes.push_back({NoteKind::kVariesAsTheOther,
                         first ? verdict.before : verdict.after,
                         {first ? verdict.after : verdict.before}});
      }
      if (verdict.change.load >= kWorthANote) {
        notes.push_back({NoteKind::kOthersLoadDiffers,
                         verdict.after,
                         {OthersOf(side), OthersOf(0), verdict.before, verdict.change.load}});
      }
      if (verdict.change.clock >= kWorthANote) {
        notes.push_back(
            {NoteKind::kClocksDiffer, verdict.after, {verdict.before, verdict.change.clock}});
      }
      if (verdict.change.temperature >= kWorthANote) {
        notes.push_back({NoteKind::kTemperaturesDiffer,
                         verdict.after,
                         {verdict.before, verdict.change.temperature}});
      }
      if (verdict.change.drift >= kWorthANote) {
        notes.push_back(
            {NoteKind::kStepsDrift, verdict.after, {verdict.before, verdict.change.drift}});
      }
    }
  }

  double OthersOf(size_t side) const {
    double sum = 0;
    for (const RunConditions* run : conditions_[side].runs) sum += run->others_share.value_or(0);
    return sum / static_cast<double>(conditions_[side].runs.size());
  }

  const std::vector<RunToCompare>& runs_;
  const CompareOptions& options_;
  std::vector<TraceTree> trees_;
  std::vector<StepBlocks> blocks_;  // by run
  StepBlocks no_blocks_;
  std::vector<Side> sides_;
  std::vector<SideConditions> conditions_;
  std::vector<Circumstances> circumstances_;      // of each side against the first
  std::vector<std::vector<DifferenceRow>> grew_;  // most, by side
  Comparison comparison_;
};

}  // namespace

Comparison Compare(const std::vector<RunToCompare>& runs, const CompareOptions& options) {
  return Comparer(runs, options).Run();
}

}  // namespace beryl::analyze
