#include "flows/export_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "account/account.h"
#include "base/file.h"
#include "importers/importers.h"

namespace beryl::flows {
namespace {

std::vector<ReadEnergy> ReadingsOf(const AccountedRun& run) {
  auto readings = account::ReadEnergies(run.input.power, run.accounting);
  for (size_t i = 0; i < readings.size() && i < run.footprint.channels.size(); ++i) {
    readings[i].within = run.footprint.channels[i].within;
  }
  return readings;
}

std::vector<StepEnergy> StepsOf(const AccountedRun& run) {
  const Footprint& footprint = run.footprint;
  struct Sums {
    std::map<NodeId, double> self_j;
    std::vector<double> channel_j;
  };
  std::map<uint32_t, Sums> by_step;  // kNoStep is the last
  for (const EnergyShare& share : footprint.shares) {
    if (!share.IsKnown()) continue;
    Sums& sums = by_step[share.step];
    sums.self_j[run.built.node_of_kind[share.kind]] += share.energy.value;
    sums.channel_j.resize(footprint.channels.size(), kUnknown);
    double& channel = sums.channel_j[share.channel];
    channel = share.energy.value + (std::isnan(channel) ? 0 : channel);
  }
  std::vector<StepEnergy> steps;
  for (auto& [number, sums] : by_step) {
    StepEnergy& step = steps.emplace_back();
    if (number != kNoStep) {
      const RunStep& known = run.input.ops.steps[number];
      step.name = known.name;
      step.start = known.start + footprint.clock_offset;
      step.end = known.end + footprint.clock_offset;
    } else {
      const OpGlance::Device all = run.input.ops.Glance().All();
      step.start = all.start + footprint.clock_offset;
      step.end = all.end + footprint.clock_offset;
      if (const auto& window = footprint.window) {
        step.start = std::max(step.start, window->from);
        step.end = std::min(step.end, window->to);
      }
    }
    for (const auto& [node, energy] : sums.self_j) step.energy_j += energy;
    step.self_j.assign(sums.self_j.begin(), sums.self_j.end());
    step.channel_j = std::move(sums.channel_j);
  }
  return steps;
}

// A model's description knows more than most traces.
std::vector<Flow> DataflowOf(const AccountedRun& run) {
  if (run.model && !run.model->flows.empty()) return run.model->flows;
  std::set<Flow> flows;
  for (const Dataflow& flow : run.input.ops.dataflow) {
    const NodeId from = run.built.node_of_kind[flow.from];
    const NodeId to = run.built.node_of_kind[flow.to];
    if (from != to) flows.insert({from, to});
  }
  return {flows.begin(), flows.end()};
}

// Energy of each operation by itself: of an attribution where each is a kind of its own.
Result<std::vector<double>> EnergyOfEach(const AccountedRun& run) {
  const OpTrace& ops = run.input.ops;
  OpTrace each;
  each.clock = ops.clock;
  each.anchors = ops.anchors;
  each.ops = ops.ops;
  each.devices = ops.devices;
  each.steps = ops.steps;
  each.ranks = ops.ranks;
  each.kinds.resize(ops.ops.size());
  for (uint32_t op = 0; op < each.ops.size(); ++op) {
    each.kinds[op].rank = ops.kinds[each.ops[op].kind].rank;
    each.ops[op].kind = op;
  }
  const Footprint footprint = TRY(account::Account(run.input.power, each, run.accounting));
  std::vector<double> energy_j(each.ops.size(), kUnknown);
  for (const EnergyShare& share : footprint.shares) {
    if (!share.IsKnown()) continue;
    double& energy = energy_j[share.kind];
    energy = share.energy.value + (std::isnan(energy) ? 0 : energy);
  }
  return energy_j;
}

}  // namespace

ExportedRun ExportOf(const AccountedRun& run, AccountReport report, const ExportNeeds& needs) {
  ExportedRun exported;
  exported.report = std::move(report);
  exported.self_s = SelfSeconds(run);
  if (needs.readings) exported.readings = ReadingsOf(run);
  if (needs.steps) exported.steps = StepsOf(run);
  if (needs.dataflow) exported.dataflow = DataflowOf(run);
  return exported;
}

Result<std::vector<ExportedTrace>> TracesToBundle(const AccountedRun& run) {
  const RunContext& context = run.input.context;
  if (!context.run_files.empty()) {
    return MisuseError(
        "a run file does not contain the trace it was made from; give the trace and the power",
        {"ops", "power"});
  }
  if (run.input.ops.devices.empty()) {
    return InvalidError("the traces have no operations");
  }
  std::vector<ExportedTrace> traces;
  for (const ImportReport& report : run.input.ops.reports) {
    if (report.format == "xplane") {
      return InvalidError(
          fmt::format("{}: Perfetto does not open XPlane files; use the .trace.json.gz that the "
                      "profiler wrote beside it, or export to xprof",
                      report.file),
          {"ops"});
    }
    if (report.file == "-") {
      return MisuseError("the trace is read twice, so it cannot come from standard input", {"ops"});
    }
    traces.push_back({report.file, report.format, report.moved + run.footprint.clock_offset});
  }
  const auto& devices = run.input.ops.devices;
  const std::string_view machine = MachineOf(devices.front());
  if (!std::all_of(devices.begin(), devices.end(),
                   [&](const std::string& device) { return MachineOf(device) == machine; })) {
    return InvalidError(
        "the traces are of several machines, each with its own clock; export one rank at a time",
        {"rank"});
  }
  return traces;
}

Status WriteXPlaneEnergy(const AccountedRun& run, const RunOptions& options,
                         std::string_view description, GrowingFile& file) {
  const auto& reports = run.input.ops.reports;
  if (!run.input.context.run_files.empty() || reports.size() != 1 ||
      reports.front().format != "xplane") {
    return MisuseError(
        "energy is written into a copy of one .xplane.pb file; give that file and its power",
        {"ops", "power"});
  }
  if (reports.front().file == "-") {
    return MisuseError("the trace is read twice, so it cannot come from standard input", {"ops"});
  }
  const auto energy_j = TRY(EnergyOfEach(run));
  const std::vector<uint64_t>& offsets = *options.import.event_offsets;
  std::vector<importers::EventEnergy> events;
  for (size_t op = 0; op < energy_j.size(); ++op) {
    if (!std::isnan(energy_j[op])) events.push_back({offsets[op], energy_j[op]});
  }
  auto first = TRY(ByteSource::Open(reports.front().file));
  if (events.empty()) {
    return InvalidError(
        fmt::format("{}: no operation in it has known energy", reports.front().file));
  }
  const auto splice =
      TRY(importers::PlanXPlaneEnergy(first, reports.front(), std::move(events), description));
  auto again = TRY(ByteSource::Open(reports.front().file));
  return splice.Copy(again, [&](std::string_view bytes) { return file.Append(bytes); });
}

}  // namespace beryl::flows
