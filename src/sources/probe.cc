#include "sources/probe.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/machine_files.h"
#include "sources/search.h"

namespace beryl::sources {
namespace {

constexpr int kMostRounds = 4;
constexpr double kAgrees = 0.1;  // of a GPU's counter with its power
constexpr double kWrong = 0.5;   // so far off that the counter is not used
constexpr double kEdges = 0.05;  // what the ends of a short watch may cost
constexpr const char* kCheckedByPower = "hwmon";

// A channel, what was seen of it, and where it stands in the list.
struct Seen {
  PowerChannel channel;
  Sight sight;
  bool used = true;
};

bool IsSame(const PowerChannel& a, const PowerChannel& b) {
  return a.meter.source == b.meter.source && a.meter.reads == b.meter.reads && a.name == b.name;
}

bool IsCounter(const PowerChannel& channel) { return channel.kind == ChannelKind::kEnergyCounter; }

// Whether a counter that does not move is a counter that does not work. Parts of a package may
// rest: a built-in GPU that nobody uses takes nothing.
bool MustMove(const PowerChannel& channel) {
  return IsCounter(channel) && channel.scope != ChannelScope::kCore;
}

bool IsFarOff(const Seen& seen) {
  if (seen.channel.meter.source != kCheckedByPower || !IsCounter(seen.channel)) return false;
  const Sight& sight = seen.sight;
  return sight.other_watts > 0 && std::isfinite(sight.watts) &&
         std::abs(sight.watts / sight.other_watts - 1) > kWrong;
}

std::vector<Seen> Look(Discovery& discovery, Nanos patience, const WatchClock& clock) {
  const std::vector<Sight> sights = Watch(discovery, patience, clock);
  std::vector<Seen> result;
  result.reserve(sights.size());
  for (size_t i = 0; i < sights.size(); ++i) {
    PowerChannel& channel = discovery.channels[i];
    if (IsCounter(channel)) channel.meter.moves = sights[i].steps > 0;
    if (std::isnan(channel.meter.update_period_us)) {
      channel.meter.update_period_us = sights[i].update_period_us;
    }
    result.push_back({channel, sights[i], true});
  }
  return result;
}

// The least energy that can be told: what is used from one step to the next, and no less than a
// count.
double SmallestJoules(const Seen& seen) {
  const MeterTraits& meter = seen.channel.meter;
  const double in_a_step = seen.sight.watts * meter.update_period_us * 1e-6;
  if (!IsCounter(seen.channel)) return in_a_step;
  return std::isfinite(in_a_step) ? std::max(meter.per_count, in_a_step) : std::nan("");
}

std::string Milliseconds(Nanos time) {
  return fmt::format("{:.0f} ms", static_cast<double>(time.value) * 1e-6);
}

SourceCheck CheckOfMoving(const Seen& seen, const std::vector<Seen>& all, Nanos patience) {
  SourceCheck check;
  check.what = fmt::format("the counter of {} moves", seen.channel.name);
  if (seen.sight.steps > 0) {
    check.verdict = SourceCheck::Verdict::kGood;
    check.detail =
        std::isfinite(seen.sight.update_period_us)
            ? fmt::format("a step every {}", FormatSeconds(seen.sight.update_period_us * 1e-6))
            : fmt::format("one step in {}", Milliseconds(patience));
  } else if (!MustMove(seen.channel)) {
    check.verdict = SourceCheck::Verdict::kUntold;
    check.detail =
        fmt::format("not in {}; a part of a package may take nothing", Milliseconds(patience));
  } else {
    check.verdict = SourceCheck::Verdict::kBad;
    check.detail = fmt::format("{} in {}: {} is not used",
                               seen.sight.readable ? "not" : "it could not be read",
                               Milliseconds(patience), seen.channel.meter.source);
    const auto instead = std::find_if(all.begin(), all.end(), [&](const Seen& other) {
      return other.used && other.channel.name == seen.channel.name;
    });
    check.detail += instead == all.end()
                        ? std::string("; nothing else reads it")
                        : fmt::format("; {} stands in for it", instead->channel.meter.source);
  }
  return check;
}

void CheckBoards(const std::vector<Seen>& all, std::vector<SourceCheck>& checks) {
  for (const Seen& board : all) {
    if (!board.used || board.channel.scope != ChannelScope::kBoard) continue;
    double inside_w = 0;
    size_t parts = 0;
    for (const Seen& part : all) {
      if (!part.used || part.channel.meter.within != board.channel.name) continue;
      inside_w += part.sight.watts;
      ++parts;
    }
    if (parts == 0) continue;
    SourceCheck check;
    check.what = fmt::format("{} is not less than what it contains", board.channel.name);
    if (std::isfinite(inside_w) && std::isfinite(board.sight.watts)) {
      const bool holds = board.sight.watts >= inside_w * (1 - kEdges);
      check.verdict = holds ? SourceCheck::Verdict::kGood : SourceCheck::Verdict::kBad;
      check.detail = fmt::format("{} against {} in its {} parts{}", FormatWatts(board.sight.watts),
                                 FormatWatts(inside_w), parts, holds ? "" : ": do not believe it");
    } else {
      check.detail = "too few steps to tell";
    }
    checks.push_back(std::move(check));
  }
}

void CheckGpus(const std::vector<Seen>& all, std::vector<SourceCheck>& checks) {
  for (const Seen& seen : all) {
    if (seen.channel.scope != ChannelScope::kGpu || !IsCounter(seen.channel)) continue;
    SourceCheck check;
    check.what = fmt::format("the counter of {} agrees with its power", seen.channel.name);
    const double counted = seen.sight.watts;
    const double other = seen.sight.other_watts;
    if (!std::isfinite(other)) {
      check.detail = "it has no other reading";
    } else if (!std::isfinite(counted) || other <= 0) {
      check.detail = "too few steps to tell";
    } else {
      const double off = counted / other - 1;
      check.verdict =
          std::abs(off) <= kAgrees ? SourceCheck::Verdict::kGood : SourceCheck::Verdict::kBad;
      check.detail = fmt::format("{} by the counter, {} by its power{}", FormatWatts(counted),
                                 FormatWatts(other), seen.used ? "" : ": the counter is not used");
    }
    checks.push_back(std::move(check));
  }
}

// Counters that another counter has taken the place of, or the estimate. Of several ways to read
// one thing that all stand still, the first is told.
void SetAside(const std::vector<Seen>& looked, std::vector<Seen>& aside,
              std::vector<Distrusted>& distrusted) {
  for (const Seen& seen : looked) {
    const bool stands_still = MustMove(seen.channel) && seen.sight.steps == 0;
    if (!stands_still && !IsFarOff(seen)) continue;
    distrusted.push_back({seen.channel.meter.source, seen.channel.meter.reads});
    const bool told = std::any_of(aside.begin(), aside.end(), [&](const Seen& other) {
      return other.channel.name == seen.channel.name;
    });
    if (told) continue;
    aside.push_back(seen);
    aside.back().used = false;
  }
}

// Whether `now` has channels that were not looked at before.
bool HasNew(const std::vector<PowerChannel>& now, const std::vector<Seen>& before) {
  return std::any_of(now.begin(), now.end(), [&](const PowerChannel& channel) {
    return std::none_of(before.begin(), before.end(),
                        [&](const Seen& seen) { return IsSame(seen.channel, channel); });
  });
}

// What was seen of a channel before is kept, also for what others are said to be within.
std::vector<Seen> CarryOver(Discovery& discovery, const std::vector<Seen>& before) {
  std::vector<Seen> result;
  result.reserve(discovery.channels.size());
  for (PowerChannel& channel : discovery.channels) {
    const auto known = std::find_if(before.begin(), before.end(), [&](const Seen& seen) {
      return IsSame(seen.channel, channel);
    });
    channel.meter.moves = known->channel.meter.moves;
    channel.meter.update_period_us = known->channel.meter.update_period_us;
    result.push_back({channel, known->sight, true});
  }
  return result;
}

std::string MachineText() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}, {} CPUs", names.sysname, names.release, names.machine,
                     ::sysconf(_SC_NPROCESSORS_ONLN));
}

void Describe(const Machine& machine, const Discovery& discovery, SourceReport& report) {
  report.cpu_time = ReadLine(machine.procfs + "/self/schedstat") ? "schedstat" : "stat";
  for (const auto& source : discovery.features) {
    for (const FeatureColumn& column : source->columns()) {
      report.features.push_back(column.device.empty() ? column.name
                                                      : column.device + " " + column.name);
    }
  }
  report.machine = MachineText();
}

}  // namespace

SourceReport ProbeWith(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                       Nanos patience, const WatchClock& clock) {
  std::vector<DuplicateChannel> duplicates = discovery.duplicates;
  std::vector<Seen> looked = Look(discovery, patience, clock);
  std::vector<Seen> everything = looked;
  std::vector<Seen> aside;
  std::vector<Distrusted> distrusted;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t known = distrusted.size();
    SetAside(looked, aside, distrusted);
    if (distrusted.size() == known) break;
    auto again = DiscoverWithout(machine, options, distrusted);
    if (!again) break;  // what was found before is still there
    discovery = std::move(*again);
    if (HasNew(discovery.channels, everything)) {
      looked = Look(discovery, patience, clock);
      everything.insert(everything.end(), looked.begin(), looked.end());
    } else {
      looked = CarryOver(discovery, everything);
    }
  }

  SourceReport report;
  std::vector<Seen> all = std::move(aside);
  all.insert(all.end(), looked.begin(), looked.end());
  std::stable_sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
    return RankOf(a.channel.meter.source) < RankOf(b.channel.meter.source);
  });
  for (const Seen& seen : all) {
    report.found.push_back(seen.channel);
    report.seen_w.push_back(seen.sight.watts);
    report.smallest_j.push_back(SmallestJoules(seen));
    if (IsCounter(seen.channel)) report.checks.push_back(CheckOfMoving(seen, all, patience));
  }
  CheckBoards(all, report.checks);
  CheckGpus(all, report.checks);
  std::erase_if(duplicates, [&](const DuplicateChannel& duplicate) {
    return std::any_of(looked.begin(), looked.end(), [&](const Seen& seen) {
      return seen.channel.meter.source == duplicate.source &&
             seen.channel.meter.reads == duplicate.reads;
    });
  });
  report.duplicates = std::move(duplicates);
  report.refused = discovery.refused;
  Describe(machine, discovery, report);
  return report;
}

SourceReport Probe(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                   Nanos patience) {
  return ProbeWith(machine, options, discovery, patience, WatchClock::Steady());
}

}  // namespace beryl::sources
