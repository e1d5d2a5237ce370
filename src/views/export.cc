#include "views/export.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "views/text/notes.h"
#include "views/views.h"

namespace beryl::views {
namespace {

struct Export {
  Format format;
  // Nothing: it has the user's own files in it and is written piece by piece.
  std::string (*write)(const ExportedRun& run);
  bool binary = false;
  ExportNeeds needs = {};
};

// The formats of other tools; each has a file of this room.
constexpr Export kExports[] = {
    {Format::kFolded, [](const ExportedRun& run) { return WriteFoldedStacks(run.report); }},
    {Format::kSpeedscope, [](const ExportedRun& run) { return WriteSpeedscope(run.report); }},
    {Format::kChrome,
     [](const ExportedRun& run) { return WriteChromeTrace(run.report); },
     false,
     {.timeline = true}},
    {Format::kPprof, [](const ExportedRun& run) { return WritePprof(run.report, run.self_s); },
     true},
    {Format::kModelExplorer, WriteModelExplorer, false, {.dataflow = true}},
    {Format::kModelExplorerData, WriteModelExplorerData, false, {.dataflow = true}},
    {Format::kPerfetto, WritePerfetto, true, {.readings = true, .steps = true}},
    {Format::kPerfettoBundle, nullptr, true, {.readings = true, .steps = true}},
    {Format::kTfevents, WriteTfevents, true, {.readings = true, .steps = true}},
    {Format::kFirefox, WriteFirefox, false, {.readings = true, .steps = true}},
    {Format::kXprof, nullptr, true},
};

const Export& Find(Format format) {
  return *std::find_if(std::begin(kExports), std::end(kExports),
                       [&](const Export& one) { return one.format == format; });
}

}  // namespace

const Column& EnergyOf(const AccountReport& report) { return report.tree.columns.front(); }

std::vector<NodeId> StackOf(const ModelTree& tree, NodeId node) {
  std::vector<NodeId> stack;
  for (; node != 0; node = tree.nodes[node].parent) stack.push_back(node);
  if (stack.empty()) stack.push_back(0);
  std::reverse(stack.begin(), stack.end());
  return stack;
}

std::string FrameName(std::string_view name) {
  std::string frame = Printable(name);
  std::replace(frame.begin(), frame.end(), ';', ':');
  return frame.empty() ? "?" : frame;
}

std::vector<uint64_t> RoundTogether(const std::vector<double>& values, double unit) {
  std::vector<uint64_t> rounded(values.size(), 0);
  std::vector<size_t> order;
  double sum = 0;
  uint64_t given = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    // No program's energy exceeds 64 bits of these units.
    const double count = values[i] / unit;
    if (!(count > 0) || count > 9e15) continue;
    rounded[i] = static_cast<uint64_t>(count);
    given += rounded[i];
    sum += count;
    order.push_back(i);
  }
  auto rest = [&](size_t i) { return values[i] / unit - static_cast<double>(rounded[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rest(a) > rest(b); });
  const int64_t missing = std::llround(sum) - static_cast<int64_t>(given);
  const auto most = std::clamp<int64_t>(missing, 0, static_cast<int64_t>(order.size()));
  for (size_t i = 0; i < static_cast<size_t>(most); ++i) ++rounded[order[i]];
  return rounded;
}

std::string ProvenanceText(const AccountReport& report) {
  return Printable(StampLine(report.provenance)) + "; " + Printable(report.context.energy_source);
}

ExportNeeds NeedsOf(Format format) { return Find(format).needs; }
bool IsBinary(Format format) { return Find(format).binary; }

std::string WriteXProfDescription(const AccountReport& report) {
  return "Energy of the operation, of all meters that feed its device; not of the VDD rail "
         "alone. " +
         ProvenanceText(report);
}

std::string Write(const ExportedRun& run, Format format) { return Find(format).write(run); }

}  // namespace beryl::views
