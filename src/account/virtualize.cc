#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "account/account.h"
#include "account/cpu_use.h"
#include "account/devices.h"
#include "account/known_power.h"
#include "account/measure_parts.h"
#include "account/shares.h"
#include "types/unknown.h"

namespace beryl::account {
namespace {

// Our part of a channel, as a counter at the same times, with a gap where it is unknown.
class PartMaker {
 public:
  PartMaker(const PowerChannel& channel, const Shares& shares)
      : channel_(channel),
        shares_(shares),
        is_counter_(channel.kind == ChannelKind::kEnergyCounter),
        part_(channel) {}

  PowerChannel Make() {
    part_.kind = ChannelKind::kEnergyCounter;
    part_.gaps.clear();
    size_t gap = 0;
    double total = 0;
    for (size_t i = 0; i < channel_.times.size(); ++i) {
      if (i > 0 && gap < channel_.gaps.size() && channel_.gaps[gap].reading == i) {
        part_.gaps.push_back(channel_.gaps[gap++]);
      } else if (i > 0) {
        const double ours = OursBetween(i);
        if (std::isnan(ours)) {
          part_.gaps.push_back({i, GapReason::kOursNotKnown});
        } else {
          total += ours;
        }
      }
      part_.values[i] = total;
    }
    return std::move(part_);
  }

 private:
  // From the previous reading to `reading`; NaN: unknown.
  double OursBetween(size_t reading) {
    const int64_t from = channel_.times[reading - 1].value;
    const int64_t to = channel_.times[reading].value;
    const double length = static_cast<double>(to - from);
    const double energy = is_counter_ ? channel_.values[reading] - channel_.values[reading - 1]
                                      : channel_.values[reading - 1] * length * 1e-9;
    while (window_ < shares_.ours.size() && shares_.edges[window_ + 1].value <= from) ++window_;
    double ours = 0;
    int64_t covered = 0;
    // Nearly always two adjacent readings are in one window.
    for (size_t at = window_; at < shares_.ours.size() && shares_.edges[at].value < to; ++at) {
      const int64_t first = std::max(from, shares_.edges[at].value);
      const int64_t last = std::min(to, shares_.edges[at + 1].value);
      if (last <= first) continue;
      covered += last - first;
      ours += energy * shares_.ours[at] * (static_cast<double>(last - first) / length);
    }
    // By CPU time, unobserved energy is the others'; for a GPU it is unknown.
    return shares_.column || covered == to - from ? ours : kUnknown;
  }

  const PowerChannel& channel_;
  const Shares& shares_;
  bool is_counter_;
  PowerChannel part_;
  size_t window_ = 0;
};

class Virtualizer {
 public:
  Virtualizer(const PowerTrace& power, const Recording& recording, SplitRule rule,
              std::vector<Note>& notes)
      : power_(power),
        recording_(recording),
        rule_(rule),
        notes_(notes),
        span_(SpanOf(power, recording)),
        use_(CountCpuUse(recording.activity)) {}

  OurPower Run() {
    OurPower ours;
    ours.clock = power_.clock;
    ours.report = power_.report;
    ours.channels.reserve(power_.channels.size());
    KnownChannels all = KnowChannels(power_, span_, recording_.period);
    known_ = std::move(all.known);
    containment_ = std::move(all.containment);
    devices_ = std::move(all.plan.devices);
    for (size_t i = 0; i < power_.channels.size(); ++i) {
      const std::optional<Shares> shares = SharesOfChannel(i);
      const bool told_apart = shares && IsKnownWell(i, *shares);
      (told_apart ? split_ : whole_).push_back(power_.channels[i].name);
      ours.channels.push_back(told_apart ? PartMaker(power_.channels[i], *shares).Make()
                                         : power_.channels[i]);
    }
    Say(split_, NoteKind::kOnlyOurs);
    Say(whole_, NoteKind::kNotToldApart);
    ours.ours = std::move(split_);
    return ours;
  }

 private:
  // The whole machine is split by CPU time only if there is nothing finer.
  std::optional<Shares> SharesOfChannel(size_t index) const {
    const PowerChannel& channel = power_.channels[index];
    const bool device = std::find(devices_.begin(), devices_.end(), index) != devices_.end();
    if (containment_.IsContainer(index) && !device) return std::nullopt;
    return SharesOf(channel, IsOnlyOne(power_.channels, containment_, index), use_,
                    recording_.features, rule_);
  }

  bool IsKnownWell(size_t index, const Shares& shares) {
    const std::string& name = power_.channels[index].name;
    const SplitSum sum = Split(known_[index].curve, shares, span_);
    const Joules unknown = sum.unknown + (shares.column ? Joules{} : sum.outside);
    if (std::abs(unknown.value) > kTooMuchUnknown * std::abs(sum.energy.value)) {
      notes_.push_back({NoteKind::kOursNotKnown, name, {unknown / sum.energy}});
      return false;
    }
    if (shares.column && std::abs(sum.outside.value) > kWorthSaying * std::abs(sum.energy.value)) {
      notes_.push_back({NoteKind::kUsedUnwatched, name, {sum.outside / sum.energy}});
    }
    return true;
  }

  void Say(const std::vector<std::string>& names, NoteKind what) {
    if (!names.empty()) notes_.push_back({what, fmt::format("{}", fmt::join(names, ", "))});
  }

  const PowerTrace& power_;
  const Recording& recording_;
  SplitRule rule_;
  std::vector<Note>& notes_;
  Span span_;
  CpuUse use_;
  std::vector<KnownPower> known_;
  Containment containment_;
  std::vector<size_t> devices_;
  std::vector<std::string> split_;
  std::vector<std::string> whole_;
};

}  // namespace

bool IsAnythingWatched(const Recording& recording) {
  const std::vector<Task>& tasks = recording.activity.tasks;
  return std::any_of(tasks.begin(), tasks.end(),
                     [](const Task& task) { return task.owner == TaskOwner::kWatched; });
}

OurPower Virtualize(const PowerTrace& power, const Recording& recording, SplitRule rule,
                    std::vector<Note>& notes) {
  if (!IsAnythingWatched(recording)) {
    notes.emplace_back(NoteKind::kNothingWatched);
    return {power, {}};
  }
  return Virtualizer(power, recording, rule, notes).Run();
}

}  // namespace beryl::account
