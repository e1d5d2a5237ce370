#include "flows/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "account/account.h"
#include "base/text.h"
#include "flows/measure_run.h"
#include "flows/recorded_runs.h"

namespace beryl::flows {
namespace {

// Each period costs time and memory; longer ones must be requested.
constexpr uint64_t kSparsestByDefault = 128;

// Frees the operations of a run as soon as it is accounted, because they take most of its memory.
class Sides {
 public:
  void Add(AccountedRun run, const RunOptions& options, RunConditions conditions = {}) {
    reports.push_back(MakeReport(run, options));
    for (const ChannelAccount& channel : run.footprint.channels) {
      conditions.estimated = conditions.estimated || channel.origin == Origin::kEstimated;
    }
    conditions_.push_back(std::move(conditions));
    run.input.ops.ops = {};
    run.input.ops.packed.reset();
    runs_.push_back(std::move(run));
  }

  std::vector<analyze::RunToCompare> Labelled(const std::vector<std::string>& labels) const {
    std::vector<analyze::RunToCompare> sides;
    for (size_t i = 0; i < runs_.size(); ++i) {
      sides.push_back(
          {labels[i], &runs_[i].input.ops, &runs_[i].footprint, &runs_[i].folded, conditions_[i]});
    }
    return sides;
  }

  // Adds the context of each run to a result made from them.
  void Stamp(auto& result) {
    result.runs = std::move(reports);
    result.provenance = ProvenanceOf(result.runs);
  }

  std::vector<AccountReport> reports;

 private:
  std::vector<AccountedRun> runs_;
  std::vector<RunConditions> conditions_;
};

bool HasOperations(const RunInput& run) { return run.ops.Glance().All().count > 0; }

Result<Recorded> MeasureRecording(RunInput run, const std::string& file, const std::string& label) {
  Recorded recorded;
  recorded.label = label;
  recorded.measured = MeasureRunFile(run, file, {});
  run.power.report.file = file;  // a recording only says that it is from meters
  recorded.measured.context.energy_source = EnergySource(run.power, run.context.label);
  if (!recorded.measured.total.energy) {
    return InvalidError(fmt::format("{}: no meter gave readings", file));
  }
  return recorded;
}

Result<Comparison> CompareRecordings(const std::vector<Recorded>& recordings,
                                     const std::optional<EnergyOf>& asked,
                                     analyze::CompareOptions compare) {
  compare.of = TRY(WhatToCompare(recordings, asked));
  if (compare.sides.empty()) compare.sides.assign(recordings.size(), 1);
  // The runs of a side are its recordings or, of a single one, its rounds.
  const bool rounds_are_runs = std::all_of(compare.sides.begin(), compare.sides.end(),
                                           [](size_t files) { return files == 1; });
  auto recorded = RunsOf(recordings, compare.of, rounds_are_runs);
  compare.runs_are_rounds = rounds_are_runs;
  size_t file = 0;
  std::vector<analyze::RunToCompare> runs;
  std::vector<AccountReport> reports;
  for (size_t side = 0; side < compare.sides.size(); ++side) {
    size_t size = 0;
    const size_t first = file;
    for (const size_t end = file + compare.sides[side]; file < end; ++file) {
      const RunConditions conditions = ConditionsOf(recordings[file].measured);
      for (RecordedRun& run : recorded[file]) {
        runs.push_back({run.label, &run.ops, &run.footprint, &run.folded, conditions, run.missing});
        reports.push_back(std::move(run.report));
        ++size;
      }
    }
    // Of a side that is one file, its label, not those of its rounds.
    if (side == compare.side_labels.size()) {
      const size_t files = file - first;
      compare.side_labels.push_back(
          files > 1 ? fmt::format("{} and {} more", recordings[first].label, files - 1)
                    : recordings[first].label);
    }
    compare.sides[side] = size;
  }
  Comparison comparison = analyze::Compare(runs, compare);
  comparison.runs = std::move(reports);
  comparison.provenance = ProvenanceOf(comparison.runs);
  return comparison;
}

}  // namespace

Result<analyze::CompareOptions> CompareOptionsOf(const std::string& level,
                                                 const std::vector<std::string>& gates,
                                                 const std::string& false_discovery) {
  analyze::CompareOptions options;
  if (!level.empty()) {
    const auto parsed = analyze::ParseNameLevel(level);
    if (!parsed) {
      return MisuseError(
          fmt::format("level '{}': expected operation, layer, module, or a depth from 1",
                      Printable(level)),
          {"level"});
    }
    options.level = *parsed;
    options.differences_level = *parsed;
  }
  const auto rate = analyze::ParseShare(false_discovery);
  if (!rate || !(*rate > 0) || *rate >= 1) {
    return MisuseError(fmt::format("false discovery '{}': expected a share such as 5%",
                                   Printable(false_discovery)),
                       {"false_discovery"});
  }
  options.false_discovery = *rate;
  for (const std::string& text : gates) options.gates.push_back(TRY(analyze::ParseGate(text)));
  return options;
}

Result<std::vector<size_t>> TakeSides(std::vector<std::string>& runs, std::string_view separator) {
  std::vector<size_t> sides = {0};
  std::vector<std::string> kept;
  for (std::string& run : runs) {
    if (run == separator) {
      sides.push_back(0);
    } else {
      ++sides.back();
      kept.push_back(std::move(run));
    }
  }
  runs = std::move(kept);
  if (sides.size() == 1) return std::vector<size_t>();
  if (std::count(sides.begin(), sides.end(), 0) > 0) {
    return MisuseError(
        "a side has no runs: runs come before and after each --, as in A1 A2 -- B1 B2");
  }
  return sides;
}

Result<CompareLabels> LabelSides(const std::vector<std::string>& files,
                                 const std::vector<size_t>& sides, const std::string& given) {
  CompareLabels labels;
  const auto words = static_cast<size_t>(std::count(given.begin(), given.end(), ',')) + 1;
  const bool of_sides = !given.empty() && words == sides.size() && words < files.size();
  labels.runs = TRY(LabelRuns(files, of_sides ? "" : given));
  if (of_sides) {
    labels.sides = TRY(LabelRuns(std::vector<std::string>(sides.size()), given));
  }
  return labels;
}

Result<Comparison> CompareRuns(const RunFiles& files, const CompareLabels& labels,
                               const RunOptions& options, analyze::CompareOptions compare) {
  std::vector<NamedRun> runs;
  RunFiles one = files;
  for (size_t i = 0; i < std::max<size_t>(1, files.runs.size()); ++i) {
    if (!files.runs.empty()) one.runs = {files.runs[i]};
    runs.push_back({one.All().front(), [one, &options] { return ReadRunOf(one, options); }});
  }
  return CompareNamedRuns(runs, labels, options, std::move(compare));
}

Result<Comparison> CompareNamedRuns(const std::vector<NamedRun>& runs, const CompareLabels& labels,
                                    const RunOptions& options, analyze::CompareOptions compare) {
  compare.side_labels = labels.sides;
  Sides sides;
  std::vector<Recorded> recordings;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string& file = runs[i].name;
    RunInput run = TRY(runs[i].read());
    if (run.recording && !HasOperations(run)) {
      recordings.push_back(TRY(MeasureRecording(std::move(run), file, labels.runs[i])));
    } else {
      std::optional<Measurement> measured;
      // Power that was measured elsewhere has no recording, and then nothing is known.
      if (run.recording) measured = MeasureRun(run, {});
      auto accounted = TRY(AccountRun(std::move(run), options));
      RunConditions conditions;
      if (measured) conditions = ConditionsOf(*measured);
      sides.Add(std::move(accounted), options, std::move(conditions));
    }
    if (!recordings.empty() && !sides.reports.empty()) {
      return InvalidError(fmt::format(
          "{} and {} cannot be compared: only one of them has operations; beryl import with its "
          "trace and the recording as its power gives the other some",
          runs[i - 1].name, file));
    }
  }
  if (!recordings.empty()) {
    return CompareRecordings(recordings, options.energy_of, std::move(compare));
  }
  Comparison comparison = analyze::Compare(sides.Labelled(labels.runs), compare);
  sides.Stamp(comparison);
  std::vector<analyze::SideToSet> to_set;
  for (size_t i = 0; i < comparison.runs.size(); ++i) {
    to_set.push_back({labels.runs[i], &comparison.runs[i].folded});
  }
  comparison.tree = analyze::SetSideBySide(to_set, {"energy"});
  return comparison;
}

void FailIncomplete(Comparison& comparison) {
  const auto incomplete =
      std::find_if(comparison.runs.begin(), comparison.runs.end(),
                   [](const AccountReport& run) { return !run.provenance.incomplete.empty(); });
  if (incomplete == comparison.runs.end()) return;
  for (GateVerdict& gate : comparison.gates) {
    gate.passed = gate.certain = false;
    gate.reason = incomplete->provenance.incomplete.front();
  }
}

bool KeepsGates(const Comparison& comparison) {
  return std::all_of(comparison.gates.begin(), comparison.gates.end(),
                     [](const GateVerdict& gate) { return gate.passed; });
}

Result<std::vector<uint32_t>> ParsePeriods(const std::string& text) {
  std::vector<uint32_t> periods;
  if (text.empty()) return periods;
  periods.push_back(1);
  for (const std::string_view word : Split(text, ',')) {
    const auto number = ParseNumber(word);
    if (!number || *number < 1 || *number > 1e9 || std::floor(*number) != *number) {
      return MisuseError(
          fmt::format("periods '{}': expected whole numbers from 1, such as 2,4,8", text),
          {"periods"});
    }
    periods.push_back(static_cast<uint32_t>(*number));
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

Result<Precision> MeasurePrecision(const RunFiles& files, const std::vector<std::string>& labels,
                                   const RunOptions& options,
                                   const std::vector<uint32_t>& periods) {
  Sides sides;
  std::vector<std::vector<Precision::Sparsing>> sparsing;
  const auto read = ForEachRun(files, options, [&](AccountedRun run) -> Status {
    const PowerTrace& power = run.input.power;
    const std::vector<uint32_t> every =
        periods.empty()
            ? analyze::LogLikeCounts(std::min(kSparsestByDefault, account::SparsestPeriod(power)))
            : periods;
    const auto thinned = TRY(account::AccountThinned(power, run.input.ops, options.account, every));
    sparsing.push_back(analyze::Sparse(run.input.ops, thinned, every, run.folded));
    sides.Add(std::move(run), options);
    return {};
  });
  if (!read) return read.error();
  Precision precision = analyze::MeasurePrecision(sides.Labelled(labels), sparsing);
  sides.Stamp(precision);
  return precision;
}

}  // namespace beryl::flows
