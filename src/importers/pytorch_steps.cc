#include "importers/pytorch_steps.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace beryl::importers {
namespace {

using StepsOfName = std::unordered_map<StringId, std::vector<uint32_t>>;

// Steps of other ranks that this rank has not reached, the last first.
StepsOfName OpenSteps(uint16_t rank, OpTrace& trace) {
  StepsOfName open;
  std::vector<bool> taken(trace.steps.size(), false);
  for (const Op& op : trace.ops) {
    if (op.step != kNoStep && trace.kinds[op.kind].rank == rank) taken[op.step] = true;
  }
  for (auto number = static_cast<uint32_t>(taken.size()); number-- > 0;) {
    if (taken[number]) continue;
    open[trace.strings.Intern(trace.steps[number].name)].push_back(number);
  }
  return open;
}

}  // namespace

KinetoSteps::KinetoSteps(const std::vector<KinetoRecord>& records, uint16_t rank, OpTrace& trace) {
  for (const KinetoRecord& record : records) {
    if (record.category != KinetoCategory::kStep) continue;
    windows_.push_back({record.start, record.end, record.name});
  }
  if (windows_.empty()) return;
  std::stable_sort(windows_.begin(), windows_.end(),
                   [](const Window& a, const Window& b) { return a.start < b.start; });
  StepsOfName open = OpenSteps(rank, trace);
  for (Window& window : windows_) {
    if (std::vector<uint32_t>& numbers = open[window.name]; !numbers.empty()) {
      window.number = numbers.back();
      numbers.pop_back();
    } else {
      window.number = static_cast<uint32_t>(trace.steps.size());
      trace.steps.push_back(
          {std::string(trace.strings.Text(window.name)), window.start, window.start});
    }
    RunStep& step = trace.steps[window.number];
    step.start = std::min(step.start, window.start);
    step.end = std::max(step.end, window.end);
  }
}

uint32_t KinetoSteps::At(Nanos time) const {
  auto after = std::upper_bound(windows_.begin(), windows_.end(), time,
                                [](Nanos t, const Window& step) { return t < step.start; });
  if (after == windows_.begin() || time >= (after - 1)->end) return kNoStep;
  return (after - 1)->number;
}

}  // namespace beryl::importers
