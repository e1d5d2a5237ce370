#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "tree/differences.h"
#include "tree/figures.h"
#include "tree/tree.h"

namespace beryl::tree {
namespace {

constexpr size_t kGrewMost = 3;
constexpr size_t kNearest = 3;

// Those that feed operations.
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

// Where the energy of a run's operations is not what it should be; nothing: it is.
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
    comparison_.per_step = std::all_of(runs.begin(), runs.end(), [](const RunToCompare& run) {
      return !KnownSteps(*run.footprint).empty();
    });
  }

  Comparison Run() {
    for (const RunToCompare& run : runs_) AddTotal(run);
    AddSimilarity();
    if (runs_.size() == 2) {
      Differences found = Between(0, 1, options_.differences_level);
      comparison_.differences = std::move(found.rows);
      comparison_.differences_level = options_.differences_level
                                          ? NameLevelWords(*options_.differences_level)
                                          : "the deepest nodes that explain it";
      if (found.unknown_names > 0) {
        comparison_.notes.push_back({NoteKind::kNodesWithoutEnergy, "", {found.unknown_names}});
      }
    }
    for (const GateLimit& gate : options_.gates) {
      for (size_t run = 1; run < runs_.size(); ++run) AddGate(gate, run);
    }
    AddNotes();
    return std::move(comparison_);
  }

 private:
  Differences Between(size_t before, size_t after, const std::optional<NameLevel>& level) const {
    return FindDifferences(*runs_[before].footprint, trees_[before], *runs_[after].footprint,
                           trees_[after], level, comparison_.per_step);
  }

  void AddTotal(const RunToCompare& run) {
    // A row for each phase and one for all.
    RowsOfKind rows;
    for (const OpKind& kind : run.trace->kinds) {
      rows.push_back({static_cast<uint32_t>(kind.phase), kPhaseCount});
    }
    const auto figures = Figures(*run.footprint, rows, kPhaseCount + 1, comparison_.per_step);
    RunTotal total;
    total.run = run.label;
    total.steps = KnownSteps(*run.footprint).size();
    auto known = [](const RowFigures& row) {
      return row.known || !row.present ? std::optional(row.energy) : std::nullopt;
    };
    for (size_t phase = 0; phase < kPhaseCount; ++phase)
      total.by_phase[phase] = known(figures[phase]);
    // A run without any operation has no energy to compare, not an energy of nothing.
    if (figures.back().known) total.attributed = figures.back().energy;
    if (figures.back().known && figures.back().steps.size > 1) {
      total.deviation = Joules{figures.back().steps.deviation};
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
    comparison_.similarity.level = NameLevelWords(options_.level);
  }

  // The operations that a gate is about, as the only row of a run.
  RowsOfKind Gated(const GateLimit& gate, size_t run) const {
    RowsOfKind rows(trees_[run].node_of_kind.size());
    const std::vector<bool> met = gate.pattern.empty()
                                      ? std::vector<bool>(trees_[run].tree.nodes.size(), true)
                                      : NodesMet(PathPattern(gate.pattern), trees_[run].tree);
    for (size_t kind = 0; kind < rows.size(); ++kind) {
      if (met[trees_[run].node_of_kind[kind]]) rows[kind].push_back(0);
    }
    return rows;
  }

  void AddGate(const GateLimit& gate, size_t run) {
    GateVerdict verdict;
    verdict.gate = gate;
    verdict.run = runs_[run].label;
    const auto before =
        Figures(*runs_[0].footprint, Gated(gate, 0), 1, comparison_.per_step).front();
    const auto after =
        Figures(*runs_[run].footprint, Gated(gate, run), 1, comparison_.per_step).front();
    if (before.known) verdict.before = before.energy;
    if (after.known) verdict.after = after.energy;
    verdict.reason = WhyNot(gate, run, before, after);
    if (verdict.reason.empty()) Judge(before, after, verdict);
    for (DifferenceRow& row : Between(0, run, std::nullopt).rows) {
      if (verdict.grew.size() == kGrewMost) break;
      if (row.difference && *row.difference > Joules{}) verdict.grew.push_back(std::move(row));
    }
    comparison_.gates.push_back(std::move(verdict));
  }

  // Why a gate cannot be judged; empty: it can.
  std::string WhyNot(const GateLimit& gate, size_t run, const RowFigures& before,
                     const RowFigures& after) const {
    if (!before.present && !after.present && !gate.pattern.empty()) {
      return fmt::format("no path meets '{}'; near: {}", gate.pattern,
                         fmt::join(NearPaths(trees_[0].tree, gate.pattern, kNearest), ", "));
    }
    for (const size_t which : {size_t{0}, run}) {
      const RowFigures& row = which == 0 ? before : after;
      const std::string& label = runs_[which].label;
      if (!row.present) {
        // A part that was not there and is now took nothing before; that one can be judged.
        if (!gate.pattern.empty()) continue;
        return fmt::format("{} has no operations{}", label,
                           comparison_.per_step ? " in its steps" : "");
      }
      if (!row.known) return fmt::format("the energy of {} is not known", label);
      if (const auto unread = FindUnread(*runs_[which].footprint)) {
        return fmt::format("{}: {} of the operation time on {} has no power reading", label,
                           FormatPercent(unread->share), unread->channel);
      }
    }
    const auto meters_before = Meters(*runs_[0].footprint);
    const auto meters_after = Meters(*runs_[run].footprint);
    if (meters_before != meters_after) {
      return fmt::format("{} has the energy of {}, {} that of {}", runs_[0].label,
                         fmt::join(meters_before, " and "), runs_[run].label,
                         fmt::join(meters_after, " and "));
    }
    return "";
  }

  void Judge(const RowFigures& before, const RowFigures& after, GateVerdict& verdict) const {
    const Joules rise = after.energy - before.energy;
    if (!(before.energy > Joules{})) {
      verdict.passed = !(rise > Joules{});
      verdict.certain = true;
      if (!verdict.passed) verdict.reason = "it took nothing before, so any energy is too much";
      if (verdict.passed) verdict.change = 0;
      return;
    }
    verdict.change = rise / before.energy;
    if (!std::isfinite(*verdict.change)) {
      verdict.change.reset();
      verdict.reason = "the energies are too large to be compared";
      return;
    }
    if (const auto noise = ChanceDifference(before.steps, after.steps)) {
      verdict.noise = Joules{*noise} / before.energy;
    }
    verdict.passed = *verdict.change <= verdict.gate.limit;
    verdict.certain =
        verdict.noise && std::fabs(*verdict.change - verdict.gate.limit) > *verdict.noise;
  }

  void AddNotes() {
    std::vector<Note>& notes = comparison_.notes;
    for (const RunTotal& total : comparison_.totals) {
      if (total.outside_steps) {
        notes.push_back({NoteKind::kOutsideSteps, total.run, {*total.outside_steps}});
      }
    }
    if (!comparison_.per_step) notes.emplace_back(NoteKind::kNoStepsToCompare);
    for (size_t run = 0; run < runs_.size(); ++run) {
      if (run > 0 && Meters(*runs_[run].footprint) != Meters(*runs_[0].footprint)) {
        const auto meters = [&](size_t of) {
          return fmt::format("{}", fmt::join(Meters(*runs_[of].footprint), " and "));
        };
        notes.push_back(
            {NoteKind::kOtherMeters, runs_[0].label, {meters(0), runs_[run].label, meters(run)}});
      }
      if (const auto unread = FindUnread(*runs_[run].footprint)) {
        notes.push_back({NoteKind::kOperationShareWithoutPower,
                         runs_[run].label,
                         {unread->share, unread->channel}});
      }
    }
  }

  const std::vector<RunToCompare>& runs_;
  const CompareOptions& options_;
  std::vector<TraceTree> trees_;
  Comparison comparison_;
};

}  // namespace

Comparison Compare(const std::vector<RunToCompare>& runs, const CompareOptions& options) {
  return Comparer(runs, options).Run();
}

}  // namespace beryl::tree
