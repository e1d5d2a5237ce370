#include "sources/probe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sources/machine_files.h"
#include "sources/search.h"
#include "types/containment.h"
#include "types/unknown.h"

namespace beryl::sources {
namespace {

constexpr int kMostRounds = 4;
constexpr double kAgrees = 0.1;  // of a GPU's counter with its power
constexpr double kWrong = 0.5;   // so far off that the counter is not used
constexpr double kEdges = 0.05;  // error from the ends of a short watch
constexpr const char* kCheckedByPower = "hwmon";

// A channel, its observations, and its place in the list.
struct Seen {
  PowerChannel channel;
  Observation observation;
  bool used = true;
};

bool IsSame(const PowerChannel& a, const PowerChannel& b) {
  return a.meter.source == b.meter.source && a.meter.reads == b.meter.reads && a.name == b.name;
}

bool IsCounter(const PowerChannel& channel) { return channel.kind == ChannelKind::kEnergyCounter; }

// Used whatever it does: named by the user, or the last resort.
bool IsKeptAnyway(const PowerChannel& channel) {
  return IsAskedFor(channel.meter.source) || channel.meter.origin == Origin::kEstimated;
}

bool IsFarOff(const Seen& seen) {
  if (seen.channel.meter.source != kCheckedByPower || !IsCounter(seen.channel)) return false;
  const Observation& observation = seen.observation;
  return observation.other_power > Watts{} && observation.power &&
         std::abs(*observation.power / *observation.other_power - 1) > kWrong;
}

void FillIn(const Observation& observation, PowerChannel& channel) {
  // A slow meter that was named may not have shown yet whether it moves.
  const bool untold = observation.steps == 0 && IsKeptAnyway(channel);
  if (IsCounter(channel) && !untold) channel.meter.moves = observation.steps > 0;
  if (!channel.meter.update_period_us) {
    channel.meter.update_period_us = observation.update_period_us;
  }
}

// Watches channels without observations and keeps the others'.
std::vector<Seen> Look(Discovery& discovery, const std::vector<Seen>& before, Nanos patience,
                       const WatchClock& clock) {
  const auto find = [&](const PowerChannel& channel) {
    return std::find_if(before.begin(), before.end(),
                        [&](const Seen& seen) { return IsSame(seen.channel, channel); });
  };
  std::vector<bool> is_new;
  is_new.reserve(discovery.channels.size());
  for (const PowerChannel& channel : discovery.channels) {
    is_new.push_back(find(channel) == before.end());
  }
  std::vector<Observation> observations(discovery.channels.size());
  if (std::find(is_new.begin(), is_new.end(), true) != is_new.end()) {
    observations = Watch(discovery, is_new, patience, clock);
  }
  std::vector<Seen> result;
  result.reserve(observations.size());
  for (size_t i = 0; i < observations.size(); ++i) {
    PowerChannel& channel = discovery.channels[i];
    if (const auto known = find(channel); known != before.end()) {
      channel.meter.moves = known->channel.meter.moves;
      channel.meter.update_period_us = known->channel.meter.update_period_us;
      result.push_back({channel, known->observation, true});
      continue;
    }
    FillIn(observations[i], channel);
    result.push_back({channel, observations[i], true});
  }
  return result;
}

// The least energy that can be resolved: the energy from one step to the next, and at least one
// count.
double SmallestJoules(const Seen& seen) {
  const MeterTraits& meter = seen.channel.meter;
  const double in_a_step =
      ValueOrNan(seen.observation.power) * meter.update_period_us.value_or(kUnknown) * 1e-6;
  if (!IsCounter(seen.channel)) return in_a_step;
  return std::isfinite(in_a_step) ? std::max(meter.per_count, in_a_step) : std::nan("");
}

std::string Milliseconds(Nanos time) {
  return fmt::format("{:.0f} ms", static_cast<double>(time.value) * 1e-6);
}

SourceCheck CheckOfMoving(const Seen& seen, const std::vector<Seen>& all) {
  SourceCheck check;
  const std::string watched = Milliseconds(seen.observation.watched);
  check.about = SourceCheck::About::kMoving;
  check.what = fmt::format("the counter of {} moves", seen.channel.name);
  if (seen.observation.steps > 0) {
    check.verdict = SourceCheck::Verdict::kGood;
    const std::optional<double> period_us = seen.channel.meter.update_period_us;
    check.detail = period_us ? fmt::format("a step every {}", FormatSeconds(*period_us * 1e-6))
                             : fmt::format("one step in {}", watched);
  } else if (IsKeptAnyway(seen.channel)) {
    check.verdict = SourceCheck::Verdict::kUntold;
    check.detail =
        seen.channel.meter.source == "meter" ? "no new line in " + watched : "not in " + watched;
  } else if (!MustMove(seen.channel)) {
    check.verdict = SourceCheck::Verdict::kUntold;
    check.detail = fmt::format("not in {}; a part of a package may use no energy", watched);
  } else {
    check.verdict = SourceCheck::Verdict::kBad;
    const auto instead = std::find_if(all.begin(), all.end(), [&](const Seen& other) {
      return other.used && other.channel.name == seen.channel.name;
    });
    const MeterTraits* const other = instead == all.end() ? nullptr : &instead->channel.meter;
    const bool same_source = other && other->source == seen.channel.meter.source;
    check.detail = fmt::format(
        "{} in {}: {} is not used; {}", seen.observation.readable ? "not" : "it could not be read",
        watched, same_source ? "it" : seen.channel.meter.source,
        !other ? "nothing else reads it"
               : (same_source ? other->reads : other->source) + " replaces it");
  }
  return check;
}

// The channels in use, and those set aside for them.
std::vector<std::string> WithinOf(const std::vector<Seen>& all,
                                  const std::vector<PowerChannel>& channels,
                                  const Containment& as_used) {
  const Containment as_found(channels, std::vector<bool>(channels.size(), true));
  std::vector<std::string> within;
  within.reserve(channels.size());
  for (size_t i = 0; i < channels.size(); ++i) {
    within.push_back((all[i].used ? as_used : as_found).WithinText(i));
  }
  return within;
}

void CheckBoards(const std::vector<Seen>& all, const Containment& containment,
                 std::vector<SourceCheck>& checks) {
  std::map<std::vector<size_t>, std::vector<size_t>> parts_of;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<size_t>& within = containment.Within(i);
    if (!all[i].used || within.empty()) continue;
    if (all[within.front()].channel.scope == ChannelScope::kBoard) parts_of[within].push_back(i);
  }
  // Nothing if one of them is unknown.
  const auto power = [&](const std::vector<size_t>& channels) {
    double sum = 0;
    for (const size_t channel : channels) sum += ValueOrNan(all[channel].observation.power);
    return IfKnown<Watts>(sum);
  };
  for (const auto& [boards, parts] : parts_of) {
    SourceCheck check;
    check.what = fmt::format("{} is not less than what it contains", containment.Names(boards));
    const auto inside = power(parts);
    const auto board = power(boards);
    if (inside && board) {
      const bool holds = *board >= *inside * (1 - kEdges);
      check.verdict = holds ? SourceCheck::Verdict::kGood : SourceCheck::Verdict::kBad;
      check.detail =
          fmt::format("{} against {} in its {} parts{}", FormatWatts(board), FormatWatts(inside),
                      parts.size(), holds ? "" : ": do not trust it");
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
    const std::optional<Watts> counted = seen.observation.power;
    const std::optional<Watts> other = seen.observation.other_power;
    if (!other) {
      check.detail = "it has no other reading";
    } else if (!counted || *other <= Watts{}) {
      check.detail = "too few steps to tell";
    } else {
      const double off = *counted / *other - 1;
      check.verdict =
          std::abs(off) <= kAgrees ? SourceCheck::Verdict::kGood : SourceCheck::Verdict::kBad;
      check.detail = fmt::format("{} by the counter, {} by its power{}", FormatWatts(counted),
                                 FormatWatts(other), seen.used ? "" : ": the counter is not used");
    }
    checks.push_back(std::move(check));
  }
}

// Counters replaced by another counter or by the estimate. Of several stuck ways to read one thing,
// the first is reported.
void SetAside(const std::vector<Seen>& looked, std::vector<Seen>& aside,
              std::vector<Distrusted>& distrusted) {
  for (const Seen& seen : looked) {
    const bool stands_still = MustMove(seen.channel) && seen.observation.steps == 0;
    if (IsKeptAnyway(seen.channel) || (!stands_still && !IsFarOff(seen))) continue;
    distrusted.push_back({seen.channel.meter.source, seen.channel.meter.reads});
    const bool told = std::any_of(aside.begin(), aside.end(), [&](const Seen& other) {
      return other.channel.name == seen.channel.name;
    });
    if (told) continue;
    aside.push_back(seen);
    aside.back().used = false;
  }
}

// The sources of an earlier search. Null: another search took it over.
struct Former {
  explicit Former(Discovery& discovery) : sources(std::move(discovery.power)) {
    auto next = std::make_move_iterator(discovery.channels.begin());
    for (const auto& source : sources) {
      const auto end = next + static_cast<std::ptrdiff_t>(source->channels().size());
      channels.emplace_back(next, end);
      next = end;
    }
  }
  std::vector<std::unique_ptr<PowerSource>> sources;
  std::vector<std::vector<PowerChannel>> channels;  // of each
};

// Counters that stood still and have no replacement stay: a recording may see them move later.
// Keeps only those of the open sources. Their estimate becomes a channel within them: sums use the
// counter if it moved, otherwise the estimate.
void KeepOnProbation(std::vector<Former> formers, const std::vector<Seen>& aside,
                     Discovery& discovery) {
  std::vector<PowerChannel> kept;
  for (const Seen& seen : aside) {
    const bool is_read = std::any_of(
        discovery.channels.begin(), discovery.channels.end(), [&](const PowerChannel& other) {
          return other.name == seen.channel.name && other.meter.origin == Origin::kMeasured;
        });
    if (!is_read && seen.observation.readable) kept.push_back(seen.channel);
  }
  for (const PowerChannel& still : kept) {
    for (PowerChannel& channel : discovery.channels) {
      if (channel.name != still.name) continue;
      channel.meter.within = channel.name;
      channel.name = EstimateName(channel.name);
    }
  }
  for (Former& former : formers) {
    for (size_t i = 0; i < former.sources.size() && !kept.empty(); ++i) {
      auto* const divisible = dynamic_cast<Divisible*>(former.sources[i].get());
      if (!divisible) continue;
      std::vector<size_t> places;
      for (size_t place = 0; place < former.channels[i].size(); ++place) {
        PowerChannel& channel = former.channels[i][place];
        const auto found = std::find_if(kept.begin(), kept.end(), [&](const PowerChannel& one) {
          return IsSame(one, channel);
        });
        if (found == kept.end()) continue;
        kept.erase(found);
        channel.meter.moves = false;
        discovery.channels.push_back(std::move(channel));
        places.push_back(place);
      }
      if (places.empty()) continue;
      divisible->KeepOnly(places);
      discovery.power.push_back(std::move(former.sources[i]));
    }
  }
}

void Describe(const Machine& machine, const Discovery& discovery, SourceReport& report) {
  report.cpu_time = ReadLine(machine.procfs + "/self/schedstat") ? "schedstat" : "stat";
  for (const auto& source : discovery.features) {
    for (const FeatureColumn& column : source->columns()) {
      report.features.push_back(column.device.empty() ? column.name
                                                      : column.device + " " + column.name);
    }
  }
  report.provenance = MakeProvenance(MetersOf(report.found));
}

}  // namespace

SourceReport ProbeWith(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                       Nanos patience, const WatchClock& clock) {
  std::vector<DuplicateChannel> duplicates = discovery.duplicates;
  std::vector<Seen> looked = Look(discovery, {}, patience, clock);
  std::vector<Seen> everything = looked;
  std::vector<Seen> aside;
  std::vector<Distrusted> distrusted;
  std::vector<Former> formers;
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t known = distrusted.size();
    SetAside(looked, aside, distrusted);
    if (distrusted.size() == known) break;
    formers.emplace_back(discovery);
    // Cannot fail: the options and the named meters were valid before.
    auto again = DiscoverWithout(machine, options, distrusted, &formers.back().sources);
    if (again) discovery = std::move(*again);
    looked = Look(discovery, everything, patience, clock);
    everything.insert(everything.end(), looked.begin(), looked.end());
  }

  SourceReport report;
  const std::vector<Seen> set_aside = aside;
  std::vector<Seen> all = std::move(aside);
  all.insert(all.end(), looked.begin(), looked.end());
  std::stable_sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
    return RankOf(a.channel.meter.source) < RankOf(b.channel.meter.source);
  });
  std::vector<bool> used;
  for (const Seen& seen : all) {
    used.push_back(seen.used);
    report.found.push_back(seen.channel);
    report.seen_w.push_back(ValueOrNan(seen.observation.power));
    report.smallest_j.push_back(SmallestJoules(seen));
    if (IsCounter(seen.channel)) report.checks.push_back(CheckOfMoving(seen, all));
  }
  const Containment containment(report.found, used);
  report.within = WithinOf(all, report.found, containment);
  CheckBoards(all, containment, report.checks);
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
  KeepOnProbation(std::move(formers), set_aside, discovery);
  return report;
}

SourceReport Probe(const Machine& machine, const DiscoverOptions& options, Discovery& discovery,
                   Nanos patience) {
  return ProbeWith(machine, options, discovery, patience, WatchClock::Steady());
}

}  // namespace beryl::sources
