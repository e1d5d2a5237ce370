#include "importers/xla_steps.h"

#include <algorithm>
#include <limits>

namespace beryl::importers {

void XlaSteps::Make(OpTrace& trace) {
  // The host's marks first: they have names.
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) {
    if ((a.plane == kHost) != (b.plane == kHost)) return a.plane == kHost;
    if (a.event.start != b.event.start) return a.event.start < b.event.start;
    return a.event.end > b.event.end;
  });
  std::unordered_map<std::string, uint32_t> step_of_name;
  for (uint32_t i = 0; i < trace.steps.size(); ++i)
    step_of_name.try_emplace(trace.steps[i].name, i);
  auto named = [&](const Mark& mark) {
    auto [place, is_new] =
        step_of_name.try_emplace(mark.name, static_cast<uint32_t>(trace.steps.size()));
    if (is_new) trace.steps.push_back({mark.name, mark.event.start, mark.event.start});
    return place->second;
  };
  std::unordered_map<int64_t, uint32_t> step_of_number;
  Nanos covered{std::numeric_limits<int64_t>::min()};
  for (const Mark& mark : marks_) {
    if (mark.plane == kHost) {
      // A mark inside another one is a part of that step.
      if (mark.event.end <= covered) continue;
      covered = mark.event.end;
    }
    const auto same = step_of_number.find(mark.number);
    const bool known =
        mark.plane != kHost && mark.number != kNoXlaNumber && same != step_of_number.end();
    const uint32_t step = known ? same->second : named(mark);
    RunStep& run = trace.steps[step];
    run.start = std::min(run.start, mark.event.start);
    run.end = std::max(run.end, mark.event.end);
    step_of_number.try_emplace(mark.number, step);
    if (mark.event.group != kNoXlaNumber) step_of_group_.try_emplace(mark.event.group, step);
    intervals_[mark.plane].push_back({mark.event.start, mark.event.end, step});
  }
}

uint32_t XlaSteps::StepOf(const XlaEvent& event, uint32_t plane) const {
  if (event.group != kNoXlaNumber) {
    const auto step = step_of_group_.find(event.group);
    if (step != step_of_group_.end()) return step->second;
  }
  auto spans = intervals_.find(plane);
  if (spans == intervals_.end()) spans = intervals_.find(kHost);
  if (spans == intervals_.end()) return kNoStep;
  const auto after =
      std::upper_bound(spans->second.begin(), spans->second.end(), event.start,
                       [](Nanos time, const StepInterval& span) { return time < span.start; });
  if (after == spans->second.begin() || event.start >= (after - 1)->end) return kNoStep;
  return (after - 1)->step;
}

}  // namespace beryl::importers
